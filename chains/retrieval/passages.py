"""Stage 1: search for passages with any LangChain retriever, and read the metadata of its documents."""

import hashlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import PurePosixPath
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.runnables.base import coerce_to_runnable
from langchain_core.runnables.graph import Graph
from langchain_core.runnables.utils import ConfigurableFieldSpec, get_unique_config_specs

from chains.callbacks import call_in_time, time_limit
from chains.documents.naming import is_link
from chains.documents.versions import in_force_first, is_in_force
from chains.errors import ConfigurationError
from chains.question import check_limits, query_of
from chains.retrieval.filters import FILTER_SPECS, conditions_of, filters_of
from chains.retrieval.retriever import RANK, SCORE, ChunkRetriever
from chains.state import Hit, Passage, Searching, SearchResult, refusal_of
from chains.text.asking import PRICES
from chains.text.tokens import INFLECTED_WEIGHT, tokens

# The names that loaders use. PyPDFLoader and its like count pages from 0, and say how many there are.
OURS = frozenset(
    {
        *("title", "section", "page", "source_urls", "doc_id", "score", "category", "jurisdiction"),
        *("audience", "source_org", "last_updated"),
    }
)
FILE_NAMES = ("file_name", "filename")
HEADERS = tuple(f"Header {level}" for level in range(1, 7))
PAGES_FROM_0 = frozenset({"page_label", "total_pages"})


def standard_metadata(document: Document, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the document's metadata with `title`, `section`, `page`, `source_urls` and `doc_id`, as far as known.

    What is stated under these names stays. Else the title is the file's name, the last part of `source`, the first
    header or the document's id; the section is the last header; the address is `source` or `url`; the page is
    `page_label` or `page`. A document without a stated title gets a `doc_id` of its own source, or of its own text, so
    that two of them are never taken for one.

    `names` are, for names of ours, those that its metadata uses: `{"title": "doc_name"}`.
    """
    given = document.metadata
    metadata = {**given, **{ours: given[theirs] for ours, theirs in names.items() if theirs in given}}
    headers = [str(metadata[name]) for name in HEADERS if metadata.get(name)]
    source = str(metadata.get("source") or "")
    if not metadata.get("title"):
        files = (metadata.get(name) for name in FILE_NAMES)
        known = filter(None, (*files, _name_of(source), *headers[:1], metadata.get("id"), document.id))
        place = source or str(metadata.get("url") or "") or document.page_content
        digest = hashlib.blake2b(place.encode(errors="replace"), digest_size=6).hexdigest()
        metadata["doc_id"] = metadata.get("doc_id") or digest
        metadata["title"] = str(next(known, f"Untitled {metadata['doc_id']}"))
    if headers and not metadata.get("section") and headers[-1] != metadata.get("title"):
        metadata["section"] = headers[-1]
    if "source_urls" not in metadata and (
        links := [link for link in (source, str(metadata.get("url"))) if is_link(link)]
    ):
        metadata["source_urls"] = links[:1]
    return metadata | _page(metadata)


def _name_of(source: str) -> str:
    """Return the last part of a path or an address; the host of an address without one."""
    if not is_link(source):
        return PurePosixPath(source.replace("\\", "/")).name
    parts = urlsplit(source)
    return unquote(PurePosixPath(parts.path).name) or parts.netloc


def _page(metadata: Mapping[str, Any]) -> dict[str, int | None]:
    """Return the page as a number from 1: the printed one where it is a number."""
    label, page = metadata.get("page_label"), metadata.get("page", metadata.get("page_number"))
    if isinstance(label, str) and label.isdecimal():
        return {"page": int(label)}
    try:
        number = int(page) + bool(PAGES_FROM_0 & metadata.keys())
    except (TypeError, ValueError, OverflowError):
        return {"page": None} if "page" in metadata else {}
    return {"page": number if number > 0 else None}


# Where retrievers write a similarity, ours first; the first number counts.
SCORE_NAMES = (SCORE, "similarityScore", "similarity", "relevanceScore", "relevance_score", "relevance")


def passage(document: Document, names: Mapping[str, str] | None = None) -> Passage:
    """Return a document of any retriever as plain data, its score taken out of the metadata.

    `standard_metadata` says what is read of that, and what the `names` are.
    """
    metadata = standard_metadata(document, names or {})
    scores = [metadata.pop(name, None) for name in SCORE_NAMES]
    known = (score for score in map(_similarity, scores) if score is not None)
    return Passage(content=document.page_content, score=next(known, None), metadata=metadata)


def _similarity(score: object) -> float | None:
    """Return a similarity, not below 0; None where a foreign retriever gives none, or a number on another scale."""
    try:
        number = round(float(score), 6)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return max(0.0, number) if number <= 1 else None


Retriever = Runnable[str, list[Document]] | Callable[[str], list[Document]] | Callable[[str], Awaitable[list[Document]]]
"""Any retriever of LangChain, another Runnable, or a function, also an async one, from a question to documents."""


class Search(Runnable[Searching, Any]):
    """Asks `retriever`, with the question's own `top_k` and `threshold` where it has them.

    The parts of a message with several questions are searched for side by side, and the message as a whole, which
    decides whose passages come first; together they get as many passages as one question does.

    A question that is blocked, or that the scope gate declined, is not searched for. What the call's filters do not
    allow is dropped even when the retriever, or a cache in it, did not heed them; so is a text that has come before. A
    retriever that does not keep the deadline of a call by itself is held to it: DeadlineError.
    """

    def __init__(self, retriever: Retriever, names: Mapping[str, str] | None = None) -> None:
        self.retriever: Runnable[str, list[Document]] = coerce_to_runnable(cast("Any", retriever))
        self._names = names or {}
        if unknown := sorted(set(self._names) - OURS):
            msg = f"metadata names {unknown[0]!r}, which nothing reads; choose from {', '.join(sorted(OURS))}"
            raise ConfigurationError(msg)
        self._keeps_deadline = getattr(retriever, "keeps_deadline", False)

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """Return what a call's `configurable` may hold: the filters, and fields of the retriever."""
        return get_unique_config_specs([*FILTER_SPECS, *self.retriever.config_specs])

    def get_graph(self, config: RunnableConfig | None = None) -> Graph:
        return self.retriever.get_graph(config)

    def invoke(self, input: Searching, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        if refusal_of(input):
            return []
        own, (queries, limits) = ensure_config(config), self._asked(input)
        search = partial(self.retriever.batch, queries, config, **limits)
        found = search() if self._keeps_deadline else call_in_time(own.get("callbacks"), search)
        return self._passages(found, input, own)

    async def ainvoke(self, input: Searching, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        if refusal_of(input):
            return []
        own, (queries, limits) = ensure_config(config), self._asked(input)
        async with nullcontext() if self._keeps_deadline else time_limit(own.get("callbacks")):
            found = await self.retriever.abatch(queries, config, **limits)
        return self._passages(found, input, own)

    def _passages(self, found: Sequence[Iterable[Document]], state: Searching, config: RunnableConfig) -> list[Passage]:
        filters = filters_of(config, state.get("filters"))
        # A retriever of ours has cut what it found itself, and may keep a passage for its words.
        least = None if isinstance(self.retriever, ChunkRetriever) else state.get("threshold")
        parts: list[list[Passage]] = []
        for documents in found:
            allowed: list[Passage] = []
            for document in documents:
                if not isinstance(document, Document):
                    msg = f"the retriever must return Documents, not {type(document).__name__}; wrap each in a Document"
                    raise ConfigurationError(msg)
                one = passage(document, self._names)
                allowed += [one] if filters.allow(one["metadata"]) else []
            unique: dict[tuple[str, bool], Passage] = {}  # Each text once, and what an older version repeats once more.
            for one in in_force_first(allowed, query_of(state)):
                unique.setdefault((one["content"].strip(), is_in_force(str(one["metadata"].get("title")))), one)
            # One without a score is never below the threshold.
            near = [one for one in unique.values() if least is None or one["score"] is None or one["score"] >= least]
            parts.append(near[: state.get("top_k")])
        # A foreign retriever may have no `top_k`.
        return _merged(parts, state.get("top_k") or getattr(self.retriever, "top_k", 0) or 0)

    def _asked(self, state: Searching) -> tuple[list[str], dict[str, Any]]:
        """Return the queries, and the limits that the retriever knows."""
        check_limits(state.get("top_k"), state.get("threshold"))
        queries = [*(part["query"] for part in state.get("parts", ())), query_of(state)]
        # A foreign retriever may know neither option; what it finds is then cut to them.
        known = getattr(type(self.retriever), "model_fields", {})
        limits: dict[str, Any] = {"top_k": state.get("top_k"), "threshold": state.get("threshold")}
        conditions_of(state.get("filters"))  # What cannot be read is refused before a retriever is asked.
        if isinstance(self.retriever, ChunkRetriever):
            limits["filters"], known = state.get("filters") or None, {**known, "filters": None}
        return queries, {name: value for name, value in limits.items() if name in known and value is not None}


class Retrieve(Search):
    """Asks `retriever` as `Search` does, and once more without a threshold where nothing reaches it.

    What is below the threshold answers nothing, unless it holds all words of the question, two at least, and that gave
    no threshold of its own; a reader may be shown what comes closest.
    """

    def __init__(self, retriever: Retriever, names: Mapping[str, str] | None = None) -> None:
        super().__init__(retriever, names)
        self._threshold = getattr(self.retriever, "threshold", None)

    def invoke(self, input: Searching, config: RunnableConfig | None = None, **kwargs: Any) -> SearchResult:
        documents = super().invoke(input, config)
        below = self._below(input, documents)
        return self._result(input, documents, super().invoke(below, config) if below else [])

    async def ainvoke(self, input: Searching, config: RunnableConfig | None = None, **kwargs: Any) -> SearchResult:
        documents = await super().ainvoke(input, config)
        below = self._below(input, documents)
        return self._result(input, documents, await super().ainvoke(below, config) if below else [])

    def _result(self, state: Searching, found: list[Passage], nearest: list[Passage]) -> SearchResult:
        asked = tokens(query_of(state)) if nearest else ()
        wanted = {word.key for word in asked if word.weight >= INFLECTED_WEIGHT} - PRICES  # A figure stands for these.
        if len(wanted) > 1 and state.get("threshold") in {None, self._threshold}:
            texts = (f"{one['content']}\n{one['metadata'].get('title')}" for one in nearest)
            held = [wanted <= {word.key for word in tokens(text)} for text in texts]
            found = [one for one, is_held in zip(nearest, held, strict=True) if is_held]
        return SearchResult(documents=found, nearest=nearest)

    def _below(self, state: Searching, found: list[Passage]) -> Searching | None:
        if found or not (state.get("threshold") or self._threshold):
            return None
        return Searching(**{**state, "threshold": 0.0})


def retrieve(retriever: Retriever) -> Runnable[Searching, list[Passage]]:
    return Search(retriever)


def _merged(found: Sequence[list[Passage]], most: int) -> list[Passage]:
    """Interleave the passages of all parts by rank, each once: at most `most`, or one for each part.

    What was found for the whole message comes last in `found`. Of the passages of one rank those lead that it has
    first; it adds none, and where there are no parts it is all.
    """
    *parts, whole = found
    if not parts:
        return whole
    order = {one["content"].strip(): place for place, one in enumerate(whole)}
    merged: dict[str, Passage] = {}
    longest = max(map(len, parts))
    for rank in range(longest):
        row = [(part, passages[rank]) for part, passages in enumerate(parts) if rank < len(passages)]
        for part, one in sorted(row, key=lambda hit: order.get(hit[1]["content"].strip(), len(order))):
            known = merged.setdefault(one["content"].strip(), {**one, "hits": []})
            known["hits"].append(Hit(part=part, rank=rank, score=one["score"]))
    ranked = list[Passage]()
    for place, one in enumerate(merged.values(), start=1):
        scores = [hit["score"] for hit in one["hits"] if hit["score"] is not None]
        ranked.append({**one, "score": max(scores, default=None), "metadata": {**one["metadata"], RANK: place}})
    return ranked[: max(most or longest, len(parts))]
