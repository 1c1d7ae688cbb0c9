"""Read files and embed texts ahead of the writer; the default engine uses threads."""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol

from langchain_core.embeddings import Embeddings

from chains.errors import IngestionError
from chains.ingestion.files import SourceFile
from chains.ingestion.parsing import Parsed, Parser

# The places of the chunks of a document that try to steer a language model, and the words that do.
Suspicious = Callable[[Sequence[str]], Mapping[int, str]]
Vectors = list[list[float]]

FILES_AHEAD = 8  # So many are read before the writer takes the first.


class Engine(Protocol):
    """Reads files and embeds texts. The writer takes both in order, whatever is ready first."""

    @property
    def endings(self) -> Collection[str]: ...

    @property
    def batches(self) -> int:
        """Return how many batches of texts are worth embedding while the writer waits for the first of them."""

    def read(self, files: Sequence[SourceFile]) -> Iterator[Parsed | IngestionError]:
        """Yield what each file holds, or why it cannot be used; a bounded number of files is read ahead."""

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

    def read(self, files: Sequence[SourceFile]) -> Iterator[Parsed | IngestionError]:
        begun: deque[Future[Parsed | IngestionError]] = deque()
        for file in files:
            begun.append(self._reader.submit(self._reading, file))
            if len(begun) > FILES_AHEAD:
                yield begun.popleft().result()
        yield from (parsed.result() for parsed in begun)

    def embed(self, texts: list[str]) -> Future[Vectors]:
        return self._embedder.submit(self._embeddings.embed_documents, texts)

    def close(self) -> None:
        self._embedder.shutdown(wait=False, cancel_futures=True)
        self._reading.parser.close()
        self._reader.shutdown(cancel_futures=True)
