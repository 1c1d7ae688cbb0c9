"""Search query -> passages, with any retriever of LangChain."""

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from functools import partial
from math import isnan
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.runnables.base import coerce_to_runnable
from langchain_core.runnables.graph import Graph

from chains.blocking import refusal_of
from chains.callbacks.deadline import call_in_time, time_limit
from chains.retrieval.filters import filters_of
from chains.retrieval.retriever import SCORE
from chains.state import Passage, Searching, query_of

# Where retrievers write a similarity, ours first; the first number counts.
SCORE_NAMES = (SCORE, "similarityScore", "similarity", "relevanceScore", "relevance_score", "relevance")


def passage(document: Document) -> Passage:
    """Return a retrieved document as plain data, its score taken out of the metadata."""
    metadata = dict(document.metadata)
    scores = [metadata.pop(name, None) for name in SCORE_NAMES]
    known = (score for score in map(_similarity, scores) if score is not None)
    return Passage(content=document.page_content, score=next(known, None), metadata=metadata)


def _similarity(score: object) -> float | None:
    """Return a score clipped to 0-1; None where a foreign retriever gives none, or no number."""
    try:
        number = float(score)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return None if isnan(number) else round(min(1.0, max(0.0, number)), 6)


Retriever = Runnable[str, list[Document]] | Callable[[str], list[Document]]
"""Any retriever of LangChain, another Runnable, or a function, from a question to documents."""


class Search(Runnable[Searching, list[Passage]]):
    """Asks `retriever`, with the question's own `top_k` and `threshold` where it has them.

    A question that is blocked, or that the scope gate declined, is not searched for. What the call's filters do not
    allow is dropped even when the retriever, or a cache in it, did not heed them; so is a text that has come before. A
    retriever that does not keep the deadline of a call by itself is held to it.

    Raises:
        QuestionError: the question is empty, too long, or no text.
        ConfigurationError: the config names an audience that there is not.
        DeadlineError: the retriever did not answer in time.
    """

    def __init__(self, retriever: Retriever) -> None:
        self.retriever: Runnable[str, list[Document]] = coerce_to_runnable(retriever)
        self._keeps_deadline = getattr(retriever, "keeps_deadline", False)

    def get_graph(self, config: RunnableConfig | None = None) -> Graph:
        """Return the graph of the retriever."""
        return self.retriever.get_graph(config)

    def invoke(self, input: Searching, config: RunnableConfig | None = None, **kwargs: Any) -> list[Passage]:
        """Return the passages, best first."""
        if refusal_of(input):
            return []
        own, query = ensure_config(config), query_of(input)
        search = partial(self.retriever.invoke, query, config, **self._limits(input))
        if self._keeps_deadline:
            return _passages(search(), own)
        return _passages(call_in_time(own.get("callbacks"), search), own)

    async def ainvoke(self, input: Searching, config: RunnableConfig | None = None, **kwargs: Any) -> list[Passage]:
        """Return the passages, best first."""
        if refusal_of(input):
            return []
        own, query = ensure_config(config), query_of(input)
        async with nullcontext() if self._keeps_deadline else time_limit(own.get("callbacks")):
            return _passages(await self.retriever.ainvoke(query, config, **self._limits(input)), own)

    def _limits(self, state: Searching) -> dict[str, Any]:
        # A foreign retriever may know neither option; it then answers with its own.
        known = getattr(type(self.retriever), "model_fields", {})
        return {name: state[name] for name in ("top_k", "threshold") if name in known and state.get(name) is not None}


def retrieve(retriever: Retriever) -> Runnable[Searching, list[Passage]]:
    """Return the step of stage 1."""
    return Search(retriever)


def _passages(found: Iterable[Document], config: RunnableConfig) -> list[Passage]:
    filters = filters_of(config)
    unique: dict[str, Document] = {}
    for document in found:
        if filters.allow(document.metadata):
            unique.setdefault(document.page_content.strip(), document)
    return [passage(document) for document in unique.values()]
