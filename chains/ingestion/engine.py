"""Read files and embed texts ahead of the writer; the default engine uses threads."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from queue import SimpleQueue
from threading import Condition
from typing import Protocol

from langchain_core.embeddings import Embeddings

from chains.errors import IngestionError
from chains.ingestion.files import SourceFile
from chains.ingestion.parsing import Parsed, Parser

# The places of the chunks of a document that try to steer a language model, and the words that do.
Suspicious = Callable[[Sequence[str]], Mapping[int, str]]
Vectors = list[list[float]]

# Files are read ahead until this many chunks wait for the writer.
CHUNKS_AHEAD = 1024


class Engine(Protocol):
    """Reads files and embeds texts. The writer takes both in order, whatever is ready first."""

    @property
    def endings(self) -> Collection[str]: ...

    @property
    def batches(self) -> int:
        """Return how many batches of texts are worth embedding while the writer waits for the first of them."""

    def read(self, files: Sequence[SourceFile]) -> Iterator[Parsed | IngestionError]:
        """Yield what each file holds, or why it cannot be used; a bounded number of chunks is read ahead."""

    def embed(self, texts: list[str]) -> Future[Vectors]: ...

    def close(self) -> None:
        """Stop what is under way. What was begun and not taken is lost."""


@dataclass(frozen=True)
class Reading:
    """Reads one file: parses it, and marks the chunks that try to steer a language model."""

    parser: Parser
    suspicious: Suspicious | None = None

    def __call__(self, file: SourceFile) -> Parsed | IngestionError:
        try:
            return self._marked(self.parser.parse(file.path))
        except IngestionError as error:
            return error

    def _marked(self, parsed: Parsed) -> Parsed:
        if self.suspicious is None:
            return parsed
        attached = {name: self._marked(document) for name, document in parsed.attached.items()}
        suspicious = self.suspicious([chunk.text for chunk in parsed.chunks])
        return replace(parsed, suspicious=suspicious, attached=attached)


class PlainEngine:
    """Reads files in one thread and embeds in another; the caller's thread writes meanwhile."""

    batches = 2

    def __init__(self, reading: Reading, embeddings: Embeddings) -> None:
        self._reading, self._embeddings = reading, embeddings
        self.endings = reading.parser.endings
        self._reader, self._embedder = ThreadPoolExecutor(1, "read"), ThreadPoolExecutor(1, "embed")
        self._changed, self._chunks, self._stopped = Condition(), 0, False

    def read(self, files: Sequence[SourceFile]) -> Iterator[Parsed | IngestionError]:
        found: SimpleQueue[Parsed | Exception] = SimpleQueue()
        self._reader.submit(self._read_ahead, files, found)
        return (self._take(found) for _ in files)

    def embed(self, texts: list[str]) -> Future[Vectors]:
        return self._embedder.submit(self._embeddings.embed_documents, texts)

    def close(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self._embedder.shutdown(wait=False, cancel_futures=True)
        self._reading.parser.close()
        self._reader.shutdown(cancel_futures=True)

    def _read_ahead(self, files: Sequence[SourceFile], found: "SimpleQueue[Parsed | Exception]") -> None:
        """Read files until CHUNKS_AHEAD chunks wait to be taken."""
        for file in files:
            parsed: Parsed | Exception
            try:
                parsed = self._reading(file)
            except Exception as error:  # `_take` raises it.
                parsed = error
            with self._changed:
                found.put(parsed)
                self._chunks += _size(parsed)
                self._changed.wait_for(lambda: self._stopped or self._chunks < CHUNKS_AHEAD)
            if self._stopped:
                return

    def _take(self, found: "SimpleQueue[Parsed | Exception]") -> Parsed | IngestionError:
        parsed = found.get()
        with self._changed:
            self._chunks -= _size(parsed)
            self._changed.notify_all()
        if isinstance(parsed, Parsed | IngestionError):
            return parsed
        raise parsed


def _size(found: Parsed | Exception) -> int:
    return len(found.chunks) if isinstance(found, Parsed) else 1
