"""The index: what embeds documents and questions, and how it is updated from folders and addresses, under a lock."""

import hashlib
import re
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable

from app import hooks
from app.adapters.embeddings.cached import MemoizedEmbeddings
from app.adapters.embeddings.onnx import OnnxEmbeddings, WordPieces
from app.ledger.index import PassageIndex
from app.ledger.passages import Passages
from app.ledger.work import Copies, Faults
from app.settings import Settings
from app.wiring.caches import Caches
from app.wiring.library import Library, read_scopes
from app.wiring.storage import bring_index_over, current_of, folder_beside, ledger_of, parser, stored_index
from chains.clock import Clock
from chains.errors import ConfigurationError, IngestionError
from chains.ingestion.engine import Engine, PlainEngine, Reading
from chains.ingestion.files import Problem
from chains.ingestion.index import Change, Report, ingest
from chains.ingestion.mirror import Mirrored, mirror
from chains.ports import FourCharacters, Progress, TokenCounter
from chains.safety.screening import suspicious_chunks
from chains.side_steps import keep_faults, side_step


@dataclass(frozen=True)
class Parts:
    """Parts that replace those of the settings."""

    embeddings: Embeddings | None = None
    model: BaseChatModel | None = None
    chain: Runnable[Any, Any] | None = None
    outbox: Any = None


@dataclass(frozen=True)
class Index:
    """The documents.

    Attributes:
        embedder: The embedding model itself.
        embeddings: The same, with the vectors of questions remembered.
        stored: The index as an ingestion changes it.
        current: Returns the passages as they are now, or raises what `current_of` says.
    """

    settings: Settings
    clock: Clock
    parts: Parts
    caches: Caches
    embedder: Embeddings
    embeddings: Embeddings
    tokens: TokenCounter
    stored: PassageIndex
    current: Callable[[], Passages]
    library: Library

    @cached_property
    def outbox(self) -> Any:
        """Return what publishes events about questions and answers (`app.wings.events.outbox`); None for no events."""
        events = self.settings.events
        if self.parts.outbox is None and events.rabbitmq_url is not None and events.enabled:
            return hooks.wing("events.plugin:outbox")(self.settings)
        return self.parts.outbox

    def ingest(
        self, given: Sequence[Path | str], *, reset: bool = False, progress: Progress | None = None, **options: Any
    ) -> Report:
        """Update the index from files and addresses.

        Args:
            given: folders, files, and addresses of buckets and web sites.
            reset: rebuild the index, and replace it at the end.
            progress: called after each file with the number fetched, then with the number read.
            options: `dry_run` counts what would change, and changes nothing; `engine` reads the files and embeds them,
                on the cluster at `ray_address`; of files and folders `only` these are read again.

        Raises:
            IngestionError: a path or address cannot be read.
            VectorStoreError, ConfigurationError: the store cannot be written, or was made with another model.
        """
        if not reset:
            bring_index_over(self.settings, self.stored)
        copies = Mirrored()
        paths = [self._fetched(str(one), copies, progress) if is_address(one) else Path(one) for one in given]
        with self.stored.locked():
            report = self.add(paths, reset=reset, progress=progress, addresses=copies.addresses, **options)
        return replace(
            report, problems=[*copies.problems, *report.problems], skipped=[*copies.skipped, *report.skipped]
        )

    def _fetched(self, address: str, every: Mirrored, progress: Progress | None) -> Path:
        """Return the copies' folder. The address is stored and shown, so it has no user name and no key."""
        settings, parts, schemes, msg = self.settings, urlsplit(address), hooks.names("sources"), ""
        if parts.scheme not in schemes:
            known = ", ".join(f"{scheme}://" for scheme in schemes)
            msg = f"{parts.scheme}:// cannot be read; an address begins with {known}"
        elif "@" in parts.netloc:
            msg = "addresses are stored and shown, so leave out user names and keys"
        elif not parts.netloc:
            msg = f"{parts.scheme}:// needs a bucket or a host"
        if msg:
            raise IngestionError(msg)
        base, ledger = folder_beside(settings, "sources"), self.stored.database
        key = hashlib.sha256(address.rstrip("/").encode()).hexdigest()[:16]
        try:
            with ledger.lock(f"fetch-{key}") as ours:
                if not ours:
                    raise IngestionError("another process is fetching it")
                opened = hooks.load("sources", parts.scheme)
                source, folder, name = opened(settings, address, parser(settings).endings)
                incoming, files = base / "incoming" / key, base / "files" / folder
                copies = mirror(source, files, Copies(ledger, key), incoming=incoming, progress=progress)
        except IngestionError as error:
            raise IngestionError(f"{parts.scheme}://{parts.netloc}{parts.path}: {error}") from error
        every.addresses.update(copies.addresses)
        every.problems.extend(copies.problems)
        every.skipped.extend(copies.skipped)
        copied: Path = files / name
        return copied

    def add(
        self,
        paths: list[Path],
        *,
        reset: bool = False,
        dry_run: bool = False,
        engine: str = "plain",
        ray_address: str | None = None,
        **options: Any,
    ) -> Report:
        """Like `ingest` for local files; the caller holds the lock, and `options` are those of `ingest`."""
        if not reset:
            self.stored.open()  # This checks that it is of these settings.
        least = self.settings.ingestion.min_chunks
        with closing(engine_of(self.settings, engine, ray_address, self.stored.embeddings)) as running:
            options |= {"reset": reset, "dry_run": dry_run, "min_chunks": least}
            report, change = ingest(paths, into=self.stored, engine=running, **options)
        if not dry_run:
            report.problems.extend(self._publish(change, paths))
        return report

    def remove(self, doc_id: str) -> None:
        """Remove a document with all its passages; the caller holds the lock, and the file stays."""
        self._publish(Change(stale=self.stored.ids_of(doc_id), forgotten={doc_id}), [])

    def _publish(self, change: Change, paths: list[Path]) -> list[Problem]:
        """Make a change, with the scope files of the folders that are left, and return their problems."""
        sources = {source.doc_id: source for source in (() if change.reset else self.stored.sources())} | change.sources
        roots = {source.root for doc_id, source in sources.items() if doc_id not in change.forgotten}
        change.scopes, problems = read_scopes(paths, roots, {} if change.reset else self.stored.scopes())
        self.stored.publish(change)
        for changed in hooks.wings("knowledge.recall:index_changed"):
            with side_step(changed.__name__):
                changed(self)
        return problems


def open_index(settings: Settings, *, clock: Clock | None = None, parts: Parts | None = None) -> Index:
    """Return the index that the settings name; nothing is read before it is asked for."""
    clock, parts = clock or Clock(), parts or Parts()
    keep_faults(Faults(ledger_of(settings)).keep)
    caches = Caches(settings, clock)
    embedder: Embeddings = hooks.load("embeddings", settings.embedding.provider)(settings, clock)
    embeddings = caches.embeddings(parts.embeddings or MemoizedEmbeddings(embedder))
    stored = stored_index(settings, embeddings)
    current = current_of(settings, stored)
    library = Library(settings, current)
    tokens = WordPieces(embedder.tokenizer) if isinstance(embedder, OnnxEmbeddings) else FourCharacters()
    return Index(settings, clock, parts, caches, embedder, embeddings, tokens, stored, current, library)


def scanner_of(settings: Settings) -> Any:
    """Return the detector of attacks in questions and documents; None if SAFETY_INJECTION is off."""
    if not settings.safety.enabled or settings.safety.injection == "off":
        return None
    return hooks.load("checks", "injection")()


def engine_of(settings: Settings, name: str, address: str | None, embeddings: Embeddings) -> Engine:
    """Return an engine, with the address of its cluster if it has one; `embeddings` are those of this process.

    Raise ConfigurationError if nobody offers it, its extra is not installed, or the settings do not suit it;
    IngestionError if its cluster cannot be reached.
    """
    scanner = scanner_of(settings)
    suspicious = partial(suspicious_chunks, suspicious_words=scanner.suspicious_words) if scanner else None
    reading = Reading(parser(settings), suspicious)
    if name == "plain":
        return PlainEngine(reading, embeddings)
    if name != "ray":
        raise ConfigurationError(f"there is no engine {name!r}; there are plain, ray")
    engine: Engine = hooks.wing("ray.plugin:engine")(settings, reading, address)
    return engine


ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")


def is_address(given: Path | str) -> bool:
    """Return whether a text is an address like s3://bucket rather than a path."""
    return isinstance(given, str) and ADDRESS.match(given) is not None
