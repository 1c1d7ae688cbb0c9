"""A folder or the address of a server -> Chroma's client of it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import chromadb
import httpx
from chromadb.api import ClientAPI
from chromadb.config import Settings as ChromaSettings
from chromadb.errors import ChromaError

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


def client_of(place: Path | Server) -> ClientAPI:
    """Return a client of the folder or the server.

    Raises:
        VectorStoreError: the folder cannot be opened, or the server not be reached.
    """
    return _server_client(place) if isinstance(place, Server) else _folder_client(place)


def _folder_client(path: Path) -> ClientAPI:
    try:
        path.mkdir(parents=True, exist_ok=True)
        # Clients are shared by their path's name: a relative one would mean two folders after a change of directory.
        return chromadb.PersistentClient(str(path.resolve()), settings=ChromaSettings(anonymized_telemetry=False))
    except (ChromaError, OSError, ValueError, RuntimeError) as error:
        msg = (
            f"the vector store in {str(path)!r} cannot be opened ({type(error).__name__}); "
            "check CHROMA_PATH, that the folder can be written, and that the disk is not full"
        )
        raise VectorStoreError(msg) from error


def _server_client(server: Server) -> ClientAPI:
    headers = {"X-Chroma-Token": server.api_key} if server.api_key else {}
    try:
        # The client waits for ever for a server that accepts and says nothing; one that says this much is asked more.
        httpx.get(f"{server}/api/v2/heartbeat", headers=headers, timeout=server.timeout_s).raise_for_status()
        client = chromadb.HttpClient(
            server.host,
            server.port,
            ssl=server.ssl,
            headers=headers,
            settings=ChromaSettings(anonymized_telemetry=False),
        )
        _session(client).timeout = httpx.Timeout(server.timeout_s)
    except Exception as error:  # The client raises what it meets, down to a bare Exception.
        msg = (
            f"no Chroma server answers at {server} ({type(error).__name__}); start one (`chroma run`), "
            "or check CHROMA_HOST, CHROMA_PORT, CHROMA_SSL and CHROMA_API_KEY"
        )
        raise VectorStoreError(msg) from error
    return client


def _session(client: ClientAPI) -> httpx.Client:
    """Return what the client sends its requests with; it has no setting for their timeout."""
    session: httpx.Client = cast("Any", client)._server._session
    return session
