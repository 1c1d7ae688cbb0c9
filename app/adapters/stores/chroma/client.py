"""Open Chroma's client of a folder or a server."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import chromadb
import httpx
from chromadb.api.client import Client
from chromadb.config import Settings as ChromaSettings
from chromadb.errors import ChromaError

from app.adapters.private_files import make_private_folder
from app.adapters.stores.chroma.compat import http_sessions
from chains.errors import VectorStoreError


@dataclass(frozen=True, slots=True)
class Server:
    """Where a Chroma server listens; `api_key` goes with each request as `X-Chroma-Token`, `timeout_s` is for each."""

    host: str
    port: int = 8000
    ssl: bool = False
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 10

    def __str__(self) -> str:
        """Return its address."""
        return f"{'https' if self.ssl else 'http'}://{self.host}:{self.port}"


def client_of(place: Path | Server) -> Client:
    """Return a client of the folder or the server.

    Raises:
        VectorStoreError: the folder cannot be opened, or the server not be reached.
    """
    return _server_client(place) if isinstance(place, Server) else _folder_client(place)


@contextmanager
def connected(place: Path | Server) -> Iterator[Client]:
    """Open a client for the body only."""
    client = client_of(place)
    try:
        yield client
    finally:
        close(client)


def close(client: Client) -> None:
    """Close the client; what clients of one folder share in a process is closed with the last of them."""
    sessions = http_sessions(client)
    client.close()
    for session in sessions:
        session.close()


def _folder_client(path: Path) -> Client:
    try:
        make_private_folder(path)
        # Clients are shared by their path's name: a relative one would mean two folders after a change of directory.
        client = chromadb.PersistentClient(str(path.resolve()), settings=ChromaSettings(anonymized_telemetry=False))
        return cast("Client", client)
    except (ChromaError, OSError, ValueError, RuntimeError) as error:
        msg = (
            f"the vector store in {str(path)!r} cannot be opened ({type(error).__name__}); "
            "check CHROMA_PATH, that the folder can be written, and that the disk is not full"
        )
        raise VectorStoreError(msg) from error


def _server_client(server: Server) -> Client:
    headers = {"X-Chroma-Token": server.api_key} if server.api_key else {}
    try:
        # The client has no time limit of its own for its first requests: ask for the heartbeat with one.
        httpx.get(f"{server}/api/v2/heartbeat", headers=headers, timeout=server.timeout_s).raise_for_status()
        options: dict[str, Any] = {"ssl": server.ssl, "headers": headers}
        settings = ChromaSettings(anonymized_telemetry=False)
        client = cast("Client", chromadb.HttpClient(server.host, server.port, settings=settings, **options))
        for session in http_sessions(client):
            session.timeout = httpx.Timeout(server.timeout_s)
    except Exception as error:  # The client raises what it meets, down to a bare Exception.
        msg = (
            f"no Chroma server answers at {server} ({type(error).__name__}); start one (`chroma run`), "
            "or check CHROMA_HOST, CHROMA_PORT, CHROMA_SSL and CHROMA_API_KEY"
        )
        raise VectorStoreError(msg) from error
    return client
