"""The private names of Chroma's client that this project uses; a test fails on a version that changes them."""

from typing import Any, cast

import httpx
from chromadb.api.client import Client


def http_sessions(client: Client) -> list[httpx.Client]:
    """Return the HTTP clients that a client of a server sends its requests with; none for a folder.

    One is its own, one its admin client's. It has no setting for their time limit, and does not close them.
    """
    private = cast("Any", client)
    sessions = [getattr(one._server, "_session", None) for one in (private, private._admin_client)]
    return [session for session in sessions if session is not None]
