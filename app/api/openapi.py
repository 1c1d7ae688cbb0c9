"""The application's routes -> their description at /openapi.json, as true as its reader expects it."""

from fastapi import FastAPI

TAGS = [
    {"name": "Waypoint", "description": "Cited answers for the desk: camelCase, `[Title > Section]` markers."},
    {"name": "MARP", "description": "Cited answers with numbered markers, from a model of the client's choice."},
    {"name": "LangServe", "description": "The chain as a remote Runnable, for LangChain's `RemoteRunnable`."},
    {"name": "operations", "description": "Whether the service is up."},
]


def describe(app: FastAPI) -> None:
    """Make the description of the routes that the application has by now."""
    description = app.openapi()
    # FastAPI adds its own 422 to every route with a body; where a contract says 400, it is none.
    for path in ("/api/query", "/api/feedback"):
        del description["paths"][path]["post"]["responses"]["422"]
    for unused in ("HTTPValidationError", "ValidationError"):
        del description["components"]["schemas"][unused]
