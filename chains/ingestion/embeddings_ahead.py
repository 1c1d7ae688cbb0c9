"""Embed one batch while the store writes the one before."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

from chains.ingestion.engine import Engine, Vectors


class EmbeddingsAhead(Embeddings):
    """Returns the vectors of texts that an `engine` has begun to embed, and of any other text.

    Args:
        engine: embeds batches of texts.
        questions: embeds questions.
        text: returns what the store embeds of a chunk.
    """

    def __init__(self, engine: Engine, questions: Embeddings, text: Callable[[Document], str]) -> None:
        self.batches = engine.batches
        self._engine = engine
        self._questions = questions
        self._text = text
        self._begun: dict[str, deque[tuple[Future[Vectors], int]]] = defaultdict(deque)

    def begin(self, chunks: Iterable[Document]) -> None:
        """Begin to embed chunks that will be handed to the store."""
        self._begin([self._text(chunk) for chunk in chunks])

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of the texts, and forget them."""
        self._begin([text for text in texts if not self._begun.get(text)])
        return [self._take(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Return the question's vector."""
        return self._questions.embed_query(text)

    def _begin(self, texts: list[str]) -> None:
        if not texts:
            return
        vectors = self._engine.embed(texts)
        for place, text in enumerate(texts):
            self._begun[text].append((vectors, place))

    def _take(self, text: str) -> list[float]:
        vectors, place = self._begun[text].popleft()
        if not self._begun[text]:
            del self._begun[text]
        return vectors.result()[place]


def embeddings_ahead(store: VectorStore) -> EmbeddingsAhead | None:
    """Return the embeddings of a store, where they can begin with a batch before it is written."""
    return store.embeddings if isinstance(store.embeddings, EmbeddingsAhead) else None
