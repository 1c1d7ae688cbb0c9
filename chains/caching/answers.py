"""Cache chunks and answers, answer equal questions at the same time once, and replay an answer as a call's own."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any, cast

from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableConfig, RunnableGenerator, ensure_config, run_in_executor
from pydantic import SkipValidation

from chains.around import Around, Invocation
from chains.caching.single_flight import SingleFlight
from chains.caching.typed_cache import CacheStats, LevelName, TypedCache, canonical
from chains.clock import Clock
from chains.errors import WaypointError
from chains.output import merge, split
from chains.question import check_question
from chains.retrieval.filters import Filters, filters_of
from chains.retrieval.retriever import ChunkRetriever
from chains.state import Answer, Question

LEVEL: LevelName = "answer"
NAME = "cited_answer"  # The run has the name of the chain's own, and its id is the answer's `trace_id`.

Parts = AsyncIterator[Answer] | Answer
"""A whole answer for `stream`; for `astream` its parts, of which the first may be the whole."""


def replay(parts: Parts, *, elapsed_ms: Callable[[], float]) -> Runnable[Question, Answer]:
    """Return a Runnable that streams the answer; `elapsed_ms` is the time since the question was asked."""

    def own(part: Any, question: Question, run: Any) -> Iterator[Answer]:
        """Yield the part with the words and the metadata of this call; a full answer is split."""
        made: dict[str, Any] = dict(part)
        if "question" in made:
            made["question"] = question["question"]
        if "metadata" in made:
            fresh = {"query": question["question"], "trace_id": str(run.run_id), "cache": LEVEL}
            made["metadata"] = made["metadata"] | fresh | {"latency_ms": elapsed_ms(), "timings_ms": {}}
        answer = cast("Answer", made)
        return split(answer) if {"answer", "metadata"} <= made.keys() else iter([answer])

    def stream(questions: Iterator[Question], run_manager: Any) -> Iterator[Answer]:
        yield from own(parts, next(questions), run_manager)

    async def astream(questions: AsyncIterator[Question], run_manager: Any) -> AsyncIterator[Answer]:
        question = await anext(questions)
        async for part in cast("AsyncIterator[Answer]", parts):
            for chunk in own(part, question, run_manager):
                yield chunk

    return RunnableGenerator(cast("Any", stream), cast("Any", astream), name=NAME)


# For what may well be answered better in a minute: a passage was missed, the model gave up or was cut off.
BRIEF_TTL_S = 60.0
_BRIEF = frozenset({"unsure", "declined", "no_results", "ungrounded", "small_talk", "question_back", "redirected"})


@dataclass(eq=False, repr=False, kw_only=True)
class CachedAnswers(Around):
    """The `bound` chain behind a cache of its answers; equal calls that await share one call of the chain.

    Nothing is kept where the index has no version. A good answer is kept for `ttl_s`; `defaults` are the options that
    hold where a question has none.
    """

    cache: TypedCache[Answer]
    version: Callable[[], str | None]
    stats: CacheStats
    clock: Clock
    ttl_s: float
    defaults: dict[str, Any]

    def __post_init__(self) -> None:
        self._under_way: SingleFlight[Answer] = SingleFlight()

    def parts(self, call: Invocation) -> Iterator[Any]:
        lookup = self._lookup(call)
        if lookup is None:
            yield from call.ask(call.question)
            return
        key, elapsed_ms = lookup
        found = self.cache.get(key)
        if found is not None:
            yield from replay(found, elapsed_ms=elapsed_ms).stream(call.question, call.config)
            return
        parts = []
        for part in call.ask(call.question):
            parts.append(part)
            yield part
        answer = merge(parts)
        if ttl_s := self._lifetime_s(answer):
            self.cache.set(key, answer, ttl_s=ttl_s)

    async def aparts(self, call: Invocation) -> AsyncIterator[Any]:
        lookup = await run_in_executor(None, self._lookup, call)  # The version may be read from a database.
        if lookup is None:
            async for part in call.aask(call.question):
                yield part
            return
        key, elapsed_ms = lookup
        async with self._joined(key, call) as (parts, is_own):
            replayed = replay(parts, elapsed_ms=elapsed_ms)
            async for part in parts if is_own else replayed.astream(call.question, call.config):
                yield part

    def _lookup(self, call: Invocation) -> tuple[str, Callable[[], float]] | None:
        """Return the key of the call, and what tells the milliseconds since it began; None where it has none."""
        began, version = self.clock.now(), self.version()
        try:
            key = self._key(call.question, ensure_config(call.config), version)
        except (WaypointError, TypeError, ValueError, RecursionError):
            return None
        return (key, lambda: round(1000 * (self.clock.now() - began), 3)) if version else None

    def _key(self, question: Question, config: RunnableConfig, version: str | None) -> str:
        given = {name: value for name, value in question.items() if value is not None}
        options = self.defaults | given | {"question": check_question(question.get("question"))}
        # Everything a caller may configure counts, except what LangChain keeps there for itself.
        configured = {name: value for name, value in config["configurable"].items() if not name.startswith("__")}
        return canonical([version, options, configured | asdict(filters_of(config))])

    @asynccontextmanager
    async def _joined(self, key: str, call: Invocation) -> AsyncIterator[tuple[AsyncIterator[Answer], bool]]:
        found = await self.cache.aget(key)
        if found is not None:
            yield _alone(found), False
            return
        with self._under_way.join(key, lambda: self._answer(key, call)) as (parts, is_own):
            if not is_own:
                self.stats.add(LEVEL, "shared")
            yield parts, is_own

    async def _answer(self, key: str, call: Invocation) -> AsyncGenerator[Answer]:
        parts = []
        async for part in call.aask(call.question):
            parts.append(part)
            yield part
        answer = merge(parts)
        if ttl_s := self._lifetime_s(answer):
            await self.cache.aset(key, answer, ttl_s=ttl_s)

    def _lifetime_s(self, answer: Answer) -> float:
        """Return `ttl_s` for a good answer, a minute for a poor one, and 0 for one that must not be given again.

        Degraded answers are not kept, because the model may be back; nor are blocked ones, those that broke off, and
        those to questions of which the moderator gave no verdict. One that was cut off, by LLM_MAX_TOKENS or the
        provider's filter, is poor.
        """
        reason: str | None = answer["metadata"]["finish_reason"]
        safety: Any = answer["metadata"].get("safety") or {}
        is_unmoderated = (safety.get("moderation") or {}).get("result") == "failed"
        if answer["outcome"] in {"degraded", "blocked"} or reason == "error" or is_unmoderated:
            return 0.0
        is_poor = answer["outcome"] in _BRIEF or reason not in {None, "stop"}
        return min(BRIEF_TTL_S, self.ttl_s) if is_poor else self.ttl_s


async def _alone(answer: Answer) -> AsyncIterator[Answer]:
    yield answer


class CachedRetriever(ChunkRetriever):
    """The chunks that `retriever` finds, kept by limits, filters, question and version of the index.

    The version is None where the changes of the index are not known: nothing is kept then.
    """

    retriever: ChunkRetriever
    cache: SkipValidation[TypedCache[list[Document]]]
    version: Callable[[], str | None]

    def find(self, query: str, *, top_k: int, threshold: float, filters: Filters, callbacks: Any) -> list[Document]:
        limits: dict[str, Any] = {"top_k": top_k, "threshold": threshold}
        version = self.version()
        key = canonical([version, query, limits, asdict(filters)])
        found = self.cache.get(key) if version else None
        if found is None:
            found = self.retriever.find(query, **limits, filters=filters, callbacks=callbacks)
            if version:
                self.cache.set(key, found)
        return found
