"""Runnable examples: `python -m examples.agent`. Each reads the settings as `waypoint` does, and is run by a test."""

from app.cli.ingest import service_to_ask
from app.observability.logs import configure_logs
from app.wiring import Service


def services() -> Service:
    """Return services by the settings; an empty index is filled with the sample corpus. Logs stay off the output."""
    configure_logs("warning")
    return service_to_ask()
