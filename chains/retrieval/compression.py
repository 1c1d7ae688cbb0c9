"""Compression: a language model cuts the chunks of another retriever down to the words that matter."""

from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableConfig
from pydantic import Field

import prompts
from chains.retrieval.filters import Filters
from chains.retrieval.retriever import ChunkRetriever, with_metadata
from chains.text.letters import escape_tag

COMPRESSED = "compressed"


class CompressionRetriever(ChunkRetriever):
    """The chunks that `retriever` finds, each cut down by `model` to what bears on the question.

    An extract has to be a substring of its chunk; where it is not, or the model fails, the chunk stays whole. The
    chunk's `start_char` and `end_char` follow, so that they still index the source; `compressed` says which were cut.
    """

    retriever: ChunkRetriever
    model: BaseChatModel
    prompt: str = Field(default_factory=lambda: prompts.load("compression"))
    concurrency: int = 5

    def find(self, query: str, *, top_k: int, threshold: float, filters: Filters, callbacks: Any) -> list[Document]:
        """Return the chunks in the order of the other retriever, compressed where it worked."""
        found = self.retriever.find(query, top_k=top_k, threshold=threshold, filters=filters, callbacks=callbacks)
        asked = [{"document": escape_tag(document.page_content, "document"), "question": query} for document in found]
        config = RunnableConfig(callbacks=callbacks, max_concurrency=self.concurrency, run_name="compress")
        # A failure costs nothing but the shorter text, so it comes back as a value; the trace holds it.
        extracts: list[Any] = self._extract().batch(asked, config, return_exceptions=True)
        return [_compress(document, extract) for document, extract in zip(found, extracts, strict=True)]

    def _extract(self) -> Any:
        template = ChatPromptTemplate.from_messages([("system", self.prompt), ("human", "{question}")])
        return template | self.model | StrOutputParser()


def _compress(document: Document, extract: str | Exception) -> Document:
    words = extract.strip() if isinstance(extract, str) else ""
    start = document.page_content.find(words) if words else -1
    if start < 0 or len(words) == len(document.page_content):
        return document
    cut = with_metadata(document, {COMPRESSED: True, **_offsets(document.metadata, start, len(words))})
    cut.page_content = words
    return cut


def _offsets(metadata: dict[str, Any], start: int, length: int) -> dict[str, int]:
    if "start_char" not in metadata:
        return {}
    first = metadata["start_char"] + start
    return {"start_char": first, "end_char": first + length}
