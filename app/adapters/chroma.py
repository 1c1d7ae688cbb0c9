"""Chroma as a second index of the ledger's vectors, through LangChain's store: in a folder, or on a server.

Chroma's files bear no second process while they change. So a folder holds one version of the index and is never changed
once it has its name; the next version is made in a copy. On a server the collection is changed in place, and has no
version meanwhile.
"""

import shutil
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, cast

import chromadb
import httpx
from chromadb.api.client import Client
from chromadb.config import Settings as ChromaSettings
from chromadb.errors import NotFoundError
from langchain_chroma import Chroma
from langchain_core.embeddings import Embeddings

from app.adapters.chroma_compat import http_sessions
from app.ledger.private_files import make_private_file, make_private_folder
from app.ledger.sqlite import refuse_locked
from app.ledger.vectors import Hits, Read
from chains.errors import VectorStoreError

AT_ONCE = 1000
# Fixed when a collection is made; the library's default of 100 loses a fifth of the true neighbours at 100,000 chunks.
SEARCH_BREADTH = 400
# After so many changes Chroma saves its index of vectors as a whole: to do so each time takes hours with a large one.
SAVE_EVERY, SAVES = 1000, 10


@dataclass
class _Ready(Embeddings):
    """Embeddings that return vectors which are there already."""

    vectors: list[list[float]] = field(default_factory=list)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.vectors

    def embed_query(self, text: str) -> list[float]:
        raise NotImplementedError


class _ChromaVectors(ABC):
    """What a folder and a server have in common; `place` says which it is."""

    place: str

    def __init__(self, collection: str) -> None:
        self._collection = collection
        self._lock = threading.Lock()
        self._open: tuple[str, chromadb.Collection] | None = None

    def nearest(self, version: str, vector: Sequence[float], limit: int, where: Mapping[str, str]) -> Hits | None:
        with self._lock:
            if self._open is None or self._open[0] != version:
                self._open = None
                held = self._held(version)
                self._open = (version, held) if held else None
            current = self._open
        if current is None:
            return None
        conditions: list[dict[str, Any]] = [{name: value} for name, value in where.items()]
        chosen: Any = {"$and": conditions} if len(conditions) > 1 else next(iter(conditions), None)
        try:
            # LangChain's search returns words and metadata, which the ledger has; Chroma reads them for milliseconds.
            found = current[1].query(list(vector), n_results=limit, where=chosen, include=["distances"])
        except NotFoundError:  # Deleted meanwhile: it is opened anew, and filled.
            self._open = None
            raise
        distances = found["distances"] or [[]]
        return {id_: min(1.0, max(0.0, 1.0 - far)) for id_, far in zip(found["ids"][0], distances[0], strict=True)}

    def close(self) -> None:
        self._open = None

    @abstractmethod
    def _held(self, version: str) -> chromadb.Collection | None:
        """Open the collection that holds this version, if one does."""

    def _store(self, client: Client, *, chunks: int = 0) -> Chroma:
        hnsw: Any = {"space": "cosine", "ef_search": SEARCH_BREADTH, "sync_threshold": max(SAVE_EVERY, chunks // SAVES)}
        store = Chroma(
            client=client,
            collection_name=self._collection,
            embedding_function=_Ready(),
            collection_configuration={"hnsw": hnsw},
        )
        weakref.finalize(store, _close, client).atexit = False
        return store


def _align(store: Chroma, ids: Sequence[str], read: Read) -> None:
    """Let a store hold these passages and no others."""
    held = set(store.get(include=[])["ids"])
    stale = iter(held.difference(ids))
    while some := list(islice(stale, AT_ONCE)):
        store.delete(some)
    entries = iter(read([id_ for id_ in ids if id_ not in held]))
    ready = cast("_Ready", store.embeddings)
    while batch := list(islice(entries, AT_ONCE)):
        # Chroma refuses empty metadata; what has none is shown to the staff alone.
        for labelled in (True, False):
            if some_entries := [entry for entry in batch if bool(entry.where) is labelled]:
                ready.vectors = [entry.vector.tolist() for entry in some_entries]
                store.add_texts(
                    [""] * len(some_entries),
                    [dict(entry.where) for entry in some_entries] if labelled else None,
                    ids=[entry.id for entry in some_entries],
                )


def _existing(client: Client, name: str) -> chromadb.Collection | None:
    try:
        collection = client.get_collection(name, embedding_function=None)
    except NotFoundError:
        return None
    weakref.finalize(collection, _close, client).atexit = False
    return collection


def _close(client: Client) -> None:
    sessions = http_sessions(client)
    client.close()
    for session in sessions:
        session.close()


class ChromaFolder(_ChromaVectors):
    """Chroma in a folder, with one folder below it for each version, of which the last one stays."""

    def __init__(self, folder: Path, collection: str) -> None:
        super().__init__(collection)
        self.folder, self.place = folder, f"chroma in {folder}"

    def fill(self, version: str, ids: Sequence[str], read: Read) -> None:
        """Bring a copy of the last version to this one, and let it take its place."""
        made, part = self.folder / version, self.folder / f"{version}.part"
        if made.is_dir():
            return
        make_private_folder(self.folder)
        last = next((path for path in self.folder.iterdir() if path.is_dir() and not path.suffix), None)
        try:
            self._make(part, last, ids, read)
        except Exception:
            if last is None:
                raise
            part = self.folder / f"{version}.anew"  # The last one is damaged, and Chroma remembers paths.
            self._make(part, None, ids, read)
        part.rename(made)
        for path in self.folder.iterdir():
            if path != made:
                shutil.rmtree(path, ignore_errors=True)

    def _make(self, part: Path, last: Path | None, ids: Sequence[str], read: Read) -> None:
        shutil.rmtree(part, ignore_errors=True)
        if last is not None:
            shutil.copytree(last, part)
        store = self._store(_folder_client(part), chunks=len(ids))
        _align(store, ids, read)  # The client is closed with the store.

    def earlier(self, folder: Path) -> Any:
        """Return the collection that an earlier program has filled in a folder; None where there is none."""
        return _existing(_folder_client(folder), self._collection) if folder.is_dir() else None

    def _held(self, version: str) -> chromadb.Collection | None:
        folder = self.folder / version
        if not folder.is_dir():
            return None
        refuse_locked(folder / "chroma.sqlite3")
        return _existing(_folder_client(folder), self._collection)


def _folder_client(folder: Path) -> Client:
    make_private_folder(folder)
    make_private_file(folder / "chroma.sqlite3")
    # Clients are shared by their path's name: a relative one would mean two folders after a change of directory.
    client = chromadb.PersistentClient(str(folder.resolve()), settings=ChromaSettings(anonymized_telemetry=False))
    return cast("Client", client)


@dataclass(frozen=True, slots=True)
class Server:
    """Where a Chroma server listens; `api_key` goes with each request as `X-Chroma-Token`, `timeout_s` is for each."""

    host: str
    port: int = 8000
    ssl: bool = False
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 10

    def __str__(self) -> str:
        return f"{'https' if self.ssl else 'http'}://{self.host}:{self.port}"


class ChromaServer(_ChromaVectors):
    """A collection on a Chroma server, whose metadata names the version that it holds."""

    def __init__(self, server: Server, collection: str) -> None:
        super().__init__(collection)
        self._server, self.place = server, f"chroma at {server}"

    def fill(self, version: str, ids: Sequence[str], read: Read) -> None:
        """Change the collection in place; who searches meanwhile is told that it has no version."""
        client = _server_client(self._server)
        store = self._store(client, chunks=len(ids))
        state = client.get_collection(self._collection, embedding_function=None).modify
        state(metadata={"version": ""})
        _align(store, ids, read)
        state(metadata={"version": version})

    def earlier(self, _folder: Path) -> Any:
        """Return the collection that an earlier program has filled; None where there is none."""
        return _existing(_server_client(self._server), self._collection)

    def _held(self, version: str) -> chromadb.Collection | None:
        collection = _existing(_server_client(self._server), self._collection)
        return collection if collection and (collection.metadata or {}).get("version") == version else None


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
