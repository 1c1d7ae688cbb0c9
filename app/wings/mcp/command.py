"""`waypoint mcp`: offer the documents to an agent on this machine."""

import asyncio
from importlib.util import find_spec

import typer

from app.cli.ingest import service_to_ask
from chains.errors import ConfigurationError

MISSING = "`waypoint mcp` needs the package mcp: run `pip install mcp` or `pip install 'waypoint-copilot[mcp]'`"


def mcp() -> None:
    """Offer the documents to an agent over stdin and stdout (Model Context Protocol)."""
    if find_spec("mcp") is None:
        raise ConfigurationError(MISSING)
    from app.wings.mcp.server import DocumentServer

    # Whoever starts the program may see everything.
    server = DocumentServer(service_to_ask(logs_answers=True), lambda _: {"configurable": {"audience": "internal"}})
    try:
        asyncio.run(server.run_stdio_async())
    except* BrokenPipeError:
        raise typer.Exit from None  # The agent has left.
