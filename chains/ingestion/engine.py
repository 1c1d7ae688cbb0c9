"""Read files and embed texts ahead of the writer; the default engine uses threads."""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Condition, Thread
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
    def endings(self) -> Collection[str]:
        """Return the endings of files that it reads, in lower case."""

    @property
    def batches(self) -> int:
        """Return how many batches of texts are worth embedding while the writer waits for the first of them."""

    def read(self, files: Sequence[SourceFile]) -> Iterator[Parsed | IngestionError]:
        """Yield what each file holds, or why it cannot be used; a bounded number of chunks is read ahead."""

    def embed(self, texts: list[str]) -> Future[Vectors]:
        """Begin to embed a batch of texts."""

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
        self._embedding = ThreadPoolExecutor(1, "embed")
        self._readers: list[_ReadAhead] = []

    def read(self, files: Sequence[SourceFile]) -> Iterator[Parsed | IngestionError]:
        reader = _ReadAhead(self._reading, files)
        self._readers.append(reader)
        return (reader.take() for _ in files)

    def embed(self, texts: list[str]) -> Future[Vectors]:
        return self._embedding.submit(self._embeddings.embed_documents, texts)

    def close(self) -> None:
        self._embedding.shutdown(wait=False, cancel_futures=True)
        for reader in self._readers:
            reader.stop()
        self._reading.parser.close()


class _ReadAhead:
    """Reads files in a thread of its own until CHUNKS_AHEAD chunks wait to be taken."""

    def __init__(self, reading: Reading, files: Sequence[SourceFile]) -> None:
        self._reading, self._files = reading, files
        self._read: deque[Parsed | Exception] = deque()
        self._chunks = 0
        self._stopped = False
        self._changed = Condition()
        self._thread = Thread(target=self._run, name="read", daemon=True)
        self._thread.start()

    def take(self) -> Parsed | IngestionError:
        with self._changed:
            self._changed.wait_for(lambda: self._read)
            found = self._read.popleft()
            self._chunks -= _size(found)
            self._changed.notify_all()
        if isinstance(found, Parsed | IngestionError):
            return found
        raise found

    def stop(self) -> None:
        """Read no further file, and end the one that is being parsed."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self._reading.parser.close()
        self._thread.join()

    def _run(self) -> None:
        for file in self._files:
            found: Parsed | Exception
            try:
                found = self._reading(file)
            except Exception as error:  # `take` raises it.
                found = error
            with self._changed:
                self._read.append(found)
                self._chunks += _size(found)
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._stopped or self._chunks < CHUNKS_AHEAD)
                if self._stopped:
                    return


def _size(found: Parsed | Exception) -> int:
    return len(found.chunks) if isinstance(found, Parsed) else 1
