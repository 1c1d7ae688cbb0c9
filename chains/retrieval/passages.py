"""A question -> passages: the verb of stage 1, around any retriever of LangChain."""

from collections.abc import Iterable
from math import isnan
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config

from chains.retrieval.filters import filters_of
from chains.retrieval.retriever import SCORE
from chains.state import Passage, Question, check_question


def passage(document: Document) -> Passage:
    """Return a retrieved document as plain data, its score taken out of the metadata."""
    metadata = dict(document.metadata)
    return Passage(content=document.page_content, score=_similarity(metadata.pop(SCORE, None)), metadata=metadata)


def _similarity(score: object) -> float | None:
    """Return a score clipped to 0-1; None where a foreign retriever gives none, or no number."""
    try:
        number = float(score)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return None if isnan(number) else round(min(1.0, max(0.0, number)), 6)


class Search(Runnable[Question, list[Passage]]):
    """The verb of stage 1: asks `retriever`, with the question's own `top_k` and `threshold` where it has them.

    What the call's filters do not allow is dropped even when the retriever, or a cache in it, did not heed them; so is
    a text that has come before.

    Raises:
        QuestionError: the question is empty, too long, or no text.
        ConfigurationError: the config names an audience that there is not.
    """

    def __init__(self, retriever: BaseRetriever) -> None:
        self._retriever = retriever

    def invoke(self, input: Question, config: RunnableConfig | None = None, **kwargs: Any) -> list[Passage]:
        """Return the passages, best first."""
        question = check_question(input.get("question"))
        return _passages(self._retriever.invoke(question, config, **self._limits(input)), ensure_config(config))

    async def ainvoke(self, input: Question, config: RunnableConfig | None = None, **kwargs: Any) -> list[Passage]:
        """Return the passages, best first."""
        question = check_question(input.get("question"))
        return _passages(await self._retriever.ainvoke(question, config, **self._limits(input)), ensure_config(config))

    def _limits(self, state: Question) -> dict[str, Any]:
        # A foreign retriever may know neither option; it then answers with its own.
        known = type(self._retriever).model_fields
        return {name: state[name] for name in ("top_k", "threshold") if name in known and state.get(name) is not None}


def retrieve(retriever: BaseRetriever) -> Runnable[Question, list[Passage]]:
    """Return the verb of stage 1."""
    return Search(retriever)


def _passages(found: Iterable[Document], config: RunnableConfig) -> list[Passage]:
    filters = filters_of(config)
    unique: dict[str, Document] = {}
    for document in found:
        if filters.allow(document.metadata):
            unique.setdefault(document.page_content.strip(), document)
    return [passage(document) for document in unique.values()]
