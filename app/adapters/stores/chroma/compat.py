"""The private names of Chroma's client and of LangChain's Chroma store that this project uses.

A test fails on a version that changes them.
"""

from typing import Any, cast

import httpx
from chromadb.api.client import Client
from chromadb.api.models.Collection import Collection
from langchain_chroma import Chroma


def collection_of(store: Chroma) -> Collection:
    """Return the collection of the store, which has no public name.

    The store's public methods neither count, nor add ready vectors, nor search without reading the texts.
    """
    return store._collection


def http_sessions(client: Client) -> list[httpx.Client]:
    """Return the HTTP clients that a client of a server sends its requests with; none for a folder.

    One is its own, one its admin client's. It has no setting for their time limit, and does not close them.
    """
    private = cast("Any", client)
    sessions = [getattr(one._server, "_session", None) for one in (private, private._admin_client)]
    return [session for session in sessions if session is not None]
