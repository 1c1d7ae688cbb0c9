"""A retriever over an index that may be replaced while questions are asked."""

from collections.abc import Callable
from typing import Any

from langchain_core.documents import Document
from pydantic import SkipValidation

from chains.errors import VectorStoreError
from chains.retrieval.retriever import ChunkRetriever


class CurrentRetriever(ChunkRetriever):
    """Asks the retriever that `current` returns, which is the one over the index as it is now."""

    current: SkipValidation[Callable[[], ChunkRetriever]]

    def find(self, query: str, **options: Any) -> list[Document]:
        """Return what the current retriever finds; an index that was replaced meanwhile is asked again, once."""
        retriever = self.current()
        try:
            return retriever.find(query, **options)
        except VectorStoreError:
            renewed = self.current()
            if renewed is retriever:
                raise
        return renewed.find(query, **options)
