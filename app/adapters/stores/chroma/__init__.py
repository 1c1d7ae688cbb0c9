"""Chroma as the store of chunks: in a folder, or on a server."""

from app.adapters.stores.chroma.client import Server
from app.adapters.stores.chroma.store import DocumentChroma, delete_collection, open_chroma

__all__ = ["DocumentChroma", "Server", "delete_collection", "open_chroma"]
