"""`waypoint mcp`: offer the documents to an agent on this machine."""

import asyncio

import typer

from app import hooks
from app.cli.ingest import service_to_ask


def mcp() -> None:
    """Offer the documents to an agent over stdin and stdout (Model Context Protocol)."""
    with hooks.from_extra("mcp", "`waypoint mcp`"):
        from app.wings.mcp.server import DocumentServer

    # Whoever starts the program may see everything.
    server = DocumentServer(service_to_ask(logs_answers=True), lambda _: {"configurable": {"audience": "internal"}})
    try:
        asyncio.run(server.run_stdio_async())
    except* BrokenPipeError:
        raise typer.Exit from None  # The agent has left.
