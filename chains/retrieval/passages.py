"""Stage 1: search for passages with any LangChain retriever."""

from collections.abc import Callable, Iterable, Sequence
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
from chains.retrieval.retriever import RANK, SCORE
from chains.state import Hit, Passage, Searching, SearchResult, query_of

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

    The parts of a message with several questions are searched for side by side; together they get as many passages as
    one question does.

    A question that is blocked, or that the scope gate declined, is not searched for. What the call's filters do not
    allow is dropped even when the retriever, or a cache in it, did not heed them; so is a text that has come before. A
    retriever that does not keep the deadline of a call by itself is held to it.

    Raises:
        QuestionError: the question is empty, too long, or no text.
        ConfigurationError: the config names an unknown audience.
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
        own, queries = ensure_config(config), _queries(input)
        search = partial(self._found, queries, config, **self._limits(input))
        found = search() if self._keeps_deadline else call_in_time(own.get("callbacks"), search)
        return _merged([_passages(documents, own) for documents in found], self._most(input))

    async def ainvoke(self, input: Searching, config: RunnableConfig | None = None, **kwargs: Any) -> list[Passage]:
        """Return the passages, best first."""
        if refusal_of(input):
            return []
        own, queries = ensure_config(config), _queries(input)
        async with nullcontext() if self._keeps_deadline else time_limit(own.get("callbacks")):
            found = await self._afound(queries, config, **self._limits(input))
        return _merged([_passages(documents, own) for documents in found], self._most(input))

    def _found(self, queries: list[str], config: RunnableConfig | None, **limits: Any) -> list[list[Document]]:
        if len(queries) == 1:
            return [self.retriever.invoke(queries[0], config, **limits)]
        return self.retriever.batch(queries, config, **limits)

    async def _afound(self, queries: list[str], config: RunnableConfig | None, **limits: Any) -> list[list[Document]]:
        if len(queries) == 1:
            return [await self.retriever.ainvoke(queries[0], config, **limits)]
        return await self.retriever.abatch(queries, config, **limits)

    def _most(self, state: Searching) -> int:
        """Return how many passages one question gets; 0 where the retriever does not say."""
        own: int = getattr(self.retriever, "top_k", 0)
        return state.get("top_k") or own

    def _limits(self, state: Searching) -> dict[str, Any]:
        # A foreign retriever may know neither option; it then answers with its own.
        known = getattr(type(self.retriever), "model_fields", {})
        return {name: state[name] for name in ("top_k", "threshold") if name in known and state.get(name) is not None}


class Retrieve(Runnable[Searching, SearchResult]):
    """Asks `retriever` as `Search` does, and once more without a threshold where nothing reaches it.

    What is below the threshold answers nothing; a reader may be shown what comes closest.
    """

    def __init__(self, retriever: Retriever) -> None:
        self._search = Search(retriever)
        self._threshold = getattr(self._search.retriever, "threshold", None)

    def get_graph(self, config: RunnableConfig | None = None) -> Graph:
        """Return the graph of the retriever."""
        return self._search.get_graph(config)

    def invoke(self, input: Searching, config: RunnableConfig | None = None, **kwargs: Any) -> SearchResult:
        """Return the passages, best first, or the nearest below the threshold."""
        documents = self._search.invoke(input, config)
        below = self._below(input, documents)
        return SearchResult(documents=documents, nearest=self._search.invoke(below, config) if below else [])

    async def ainvoke(self, input: Searching, config: RunnableConfig | None = None, **kwargs: Any) -> SearchResult:
        """Return the passages, best first, or the nearest below the threshold."""
        documents = await self._search.ainvoke(input, config)
        below = self._below(input, documents)
        return SearchResult(documents=documents, nearest=await self._search.ainvoke(below, config) if below else [])

    def _below(self, state: Searching, found: list[Passage]) -> Searching | None:
        if found or self._threshold is None or not (state.get("threshold") or self._threshold):
            return None
        return Searching(**{**state, "threshold": 0.0})


def retrieve(retriever: Retriever) -> Runnable[Searching, list[Passage]]:
    """Return the step that searches, and nothing else."""
    return Search(retriever)


def _passages(found: Iterable[Document], config: RunnableConfig) -> list[Passage]:
    filters = filters_of(config)
    unique: dict[str, Document] = {}
    for document in found:
        if filters.allow(document.metadata):
            unique.setdefault(document.page_content.strip(), document)
    return [passage(document) for document in unique.values()]


def _queries(state: Searching) -> list[str]:
    return [part["query"] for part in state.get("parts", ())] or [query_of(state)]


def _merged(found: Sequence[list[Passage]], most: int) -> list[Passage]:
    """Interleave the passages of all parts by rank, each once: at most `most`, or one for each part."""
    if len(found) == 1:
        return found[0]
    merged: dict[str, Passage] = {}
    longest = max(map(len, found))
    for rank in range(longest):
        for part, passages in enumerate(found):
            if rank < len(passages):
                one = passages[rank]
                known = merged.setdefault(one["content"].strip(), {**one, "hits": []})
                known["hits"].append(Hit(part=part, rank=rank, score=one["score"]))
    return [_ranked(one, place) for place, one in enumerate(merged.values(), start=1)][
        : max(most or longest, len(found))
    ]


def _ranked(one: Passage, rank: int) -> Passage:
    scores = [hit["score"] for hit in one["hits"] if hit["score"] is not None]
    return {**one, "score": max(scores, default=None), "metadata": {**one["metadata"], RANK: rank}}
