"""The private names of Chroma's client that this project uses; a test fails on the version that changes them."""

from typing import Any, cast

import httpx
from chromadb.api.client import Client


def http_sessions(client: Client) -> list[httpx.Client]:
    """Return what a client of a server sends its requests with, its own and its admin client's; none for a folder.

    The client has no setting for their time limit, and does not close them when it is closed.
    """
    private = cast("Any", client)
    sessions = [getattr(one._server, "_session", None) for one in (private, private._admin_client)]
    return [session for session in sessions if session is not None]
