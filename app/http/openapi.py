"""The application's routes -> their description at /openapi.json, as true as its reader expects it."""

from typing import Any, Literal

from fastapi import FastAPI

from app.http.security.authentication import OPEN

TAGS = [
    {"name": "Waypoint", "description": "Cited answers for the desk: camelCase, `[Title > Section]` markers."},
    {"name": "MARP", "description": "Cited answers with numbered markers, from a model of the client's choice."},
    {"name": "LangServe", "description": "The chain as a remote Runnable, for LangChain's `RemoteRunnable`."},
    {"name": "operations", "description": "Whether the service is up."},
]

_BEARER = {"type": "http", "scheme": "bearer", "description": "A session's token, or a key."}
_KEY = {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "A key."}
# How a caller shows who it is, in each mode; any one of the schemes is enough.
SCHEMES: dict[str, dict[str, Any]] = {
    "none": {},
    "session": {"bearer": _BEARER},
    "api_key": {"bearer": _BEARER, "key": _KEY},
}


def describe(app: FastAPI, auth_mode: Literal["none", "session", "api_key"]) -> None:
    """Make the description of the routes that the application has by now, and of what `auth_mode` asks for."""
    description = app.openapi()
    # FastAPI adds its own 422 to every route with a body; where a contract says 400, it is none.
    for path in ("/api/query", "/api/feedback"):
        del description["paths"][path]["post"]["responses"]["422"]
    for unused in ("HTTPValidationError", "ValidationError"):
        del description["components"]["schemas"][unused]
    if schemes := SCHEMES[auth_mode]:
        _secure(description, schemes)


def _secure(description: dict[str, Any], schemes: dict[str, Any]) -> None:
    """Say of every operation that asks for a name which schemes it takes."""
    description["components"]["securitySchemes"] = schemes
    for path, operations in description["paths"].items():
        if path not in OPEN:
            for operation in operations.values():
                operation["security"] = [{scheme: []} for scheme in schemes]
