"""The base class of the strategies: limits, filters, scores, ranks; the passages for questions on whole documents."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, ClassVar

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig, ensure_config, run_in_executor
from pydantic import Field, SkipValidation, model_validator

from chains.callbacks import check_time, time_limit
from chains.documents.audience import Audience
from chains.documents.library import Titles
from chains.documents.naming import with_hosts
from chains.documents.versions import LABELS, editions_in, names_edition, two_versions, version_order
from chains.errors import VectorStoreError
from chains.ports import ChunkStore
from chains.question import check_fields
from chains.retrieval.filters import FieldIndex, Filters, filters_of
from chains.text.overviews import MOST_HELD, overview_of


def whole_documents(query: str, titles: Titles, index: ChunkStore, found: Sequence[Document]) -> list[str] | None:
    """Return the ids of the passages for a question about whole documents; None where it is none, or names no document.

    `titles` are the documents that the asker may see, `found` is what a search for the question found, best first.
    """
    asked = overview_of(query, editions_in(query))
    if asked is None:
        return None
    shares = {doc_id: asked.share(entry.title) for doc_id, entry in titles.entries.items()}
    best = max(shares.values(), default=0.0)
    named = [doc_id for doc_id, share in shares.items() if share == best >= MOST_HELD]
    if asked.form == "list":
        first = [index.chunks_of(doc_id)[0] for doc_id in (named if best >= 1 else ())]
        return first + [str(one.id) for one in found if str(one.metadata["doc_id"]) not in named or best < 1]
    if not named or not (asked.subject or asked.form == "changes"):
        return None
    ids = {titles.title(doc_id): doc_id for doc_id in named}
    chosen = two_versions(list(ids), query)[::-1]
    if asked.form == "summary":
        chosen = [max(ids, key=lambda title: (names_edition(title, query), version_order(title)))]
    return [id_ for title in chosen for id_ in index.chunks_of(ids[title])] or None


SCORE, RANK, FUSED_SCORE = "score", "rank", "fused_score"
LIMITS = ("top_k", "threshold")
ASKED = (*LIMITS, "filters")


class ChunkRetriever(BaseRetriever):
    """Up to `top_k` chunks whose cosine similarity reaches `threshold`; a call may give its own, and 0 is a value.

    `audience`, `category` and `jurisdiction` in the config's `configurable` say what the call may see.
    """

    top_k: int = 10
    threshold: float = 0.15
    link_hosts: tuple[str, ...] = ()
    """Where the links of the chunks' sources may lead; none is anywhere."""
    keeps_deadline: ClassVar[bool] = True
    fields: SkipValidation[FieldIndex | None] = Field(None, exclude=True)
    """Finds the passages that the filters of a question leave; None where what is found is filtered."""
    executor: SkipValidation[Executor | None] = Field(None, exclude=True)
    """The threads in which an awaited search runs; None are the event loop's own."""

    @abstractmethod
    def find(self, query: str, *, top_k: int, threshold: float, filters: Filters, callbacks: Any) -> list[Document]: ...

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, values: dict[str, Any]) -> dict[str, Any]:
        check_fields(values, cls.model_fields, cls.__name__)
        return values

    def invoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:
        """Return the chunks, best first; `kwargs` are the call's own `top_k`, `threshold` and `filters`."""
        return super().invoke(input, config, **_options(kwargs, config))

    async def ainvoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:
        return await super().ainvoke(input, config, **_options(kwargs, config))

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **asked: Any
    ) -> list[Document]:
        wanted = self.wanted(**asked)
        if wanted["top_k"] <= 0:
            return []
        check_time(run_manager)
        return self.ranked(self.find(query, **wanted, callbacks=run_manager.get_child()), wanted["filters"])

    def wanted(
        self, top_k: int | None = None, threshold: float | None = None, filters: Filters | None = None
    ) -> dict[str, Any]:
        limits = {"top_k": top_k, "threshold": threshold}
        own = {name: getattr(self, name) if limit is None else limit for name, limit in limits.items()}
        return own | {"filters": filters or Filters()}

    def allowed(self, filters: Filters) -> list[str] | None:
        """Return the ids of the passages that the question's own filters leave; None where it has none."""
        return self.fields.ids(filters) if filters.conditions and self.fields is not None else None

    def ranked(self, documents: Iterable[Document], filters: Filters) -> list[Document]:
        """Return the documents that the filters allow, with their ranks and no links but those that may be shown."""
        allowed = [document for document in documents if filters.allow(document.metadata)]
        return [
            with_metadata(document, with_hosts(document.metadata, self.link_hosts) | {RANK: rank})
            for rank, document in enumerate(allowed, start=1)
        ]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **options: Any
    ) -> list[Document]:
        # The stores and the word index are synchronous; a thread keeps them off the event loop. A store that hangs
        # keeps its thread, and not the caller.
        async with time_limit(run_manager):
            return await run_in_executor(
                self.executor, self._get_relevant_documents, query, run_manager=run_manager.get_sync(), **options
            )


def _options(given: dict[str, Any], config: RunnableConfig | None) -> dict[str, Any]:
    check_fields(given, ASKED, "a search")
    return {**given, "filters": filters_of(ensure_config(config), given.get("filters"))}


class CurrentRetriever(ChunkRetriever):
    """Asks the retriever that `over` returns for the `index` as it is now.

    `titles` returns the documents of an index that an audience may see; None where there are too many to look at. A
    question about documents as wholes is answered from them: from the beginning of each, or from all of one or two.
    """

    index: SkipValidation[Callable[[], ChunkStore]]
    over: SkipValidation[Callable[[Any], ChunkRetriever]]
    titles: SkipValidation[Callable[[Any, Audience], Titles | None]]

    def find(self, query: str, **options: Any) -> list[Document]:
        """Return what the current retriever finds; an index that was replaced meanwhile is asked again, once."""
        index = self.index()
        try:
            found = self.over(index).find(query, **options)
        except VectorStoreError:
            before, index = index, self.index()
            if index is before:
                raise
            found = self.over(index).find(query, **options)
        titles = self.titles(index, options["filters"].audience)
        if titles is None:
            return found
        if ids := whole_documents(query, titles, index, found):
            scores = {str(one.id): one.metadata[SCORE] for one in found}
            wanted = {id_: {SCORE: scores.get(id_, options["threshold"])} for id_ in ids[: options["top_k"]]}
            found = fetched(index, wanted)
        labels = [titles.labels.get(str(one.metadata["doc_id"])) for one in found]
        return [with_metadata(one, {LABELS: told}) if told else one for one, told in zip(found, labels, strict=True)]


def fetched(store: ChunkStore, found: Mapping[str, Mapping[str, float]]) -> list[Document]:
    """Return the found chunks in their order, with their scores in the metadata; one deleted meanwhile is left out."""
    documents = {document.id: document for document in store.get_by_ids(list(found))}
    return [with_metadata(documents[id_], scores) for id_, scores in found.items() if id_ in documents]


def with_metadata(document: Document, more: Mapping[str, Any]) -> Document:
    return Document(id=document.id, page_content=document.page_content, metadata={**document.metadata, **more})
