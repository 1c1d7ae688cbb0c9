"""A chain that counts its calls and can be held up, an answer, and a clock that stands still."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import TypeAdapter

from chains.caching.answers import CachedAnswers
from chains.caching.typed_cache import CacheStats, Event, ExpiringStore, MemoryStore, TypedCache
from chains.output import split
from chains.state import Answer, Question
from tests.clocks import StoppedClock
from tests.waiting import PATIENCE_S

TTL_S = 3600


def answer(question: str = "Q?", text: str = "Nine percent [GST].", **changes: Any) -> Answer:
    metadata = {
        "query": question,
        "search_query": question,
        "chunks_retrieved": 1,
        "chunks_used": 1,
        "latency_ms": 500.0,
        "timings_ms": {"retrieval": 9.0},
        "model": "m",
        "usage": {"total_tokens": 7},
        "finish_reason": changes.pop("finish_reason", "stop"),
        "cache": None,
        "trace_id": "the-first",
        "safety": None,
    }
    whole = {
        "question": question,
        "answer": text,
        "outcome": "answered",
        "citations": [],
        "sources": [],
        "related_docs": [],
        "closest": [],
        "unsupported": [],
        "draft": "",
        "confidence": {"level": "High", "score": 0.9, "reason": "r", "factors": {}},
        "documents": [{"content": "c", "metadata": {"doc_id": "gst"}, "score": 0.5}],
        "metadata": metadata,
    }
    return cast("Answer", whole | changes)


class Chain(Runnable[Question, Answer]):
    """Answers with `changes`, once its gate is open; raises `error` where there is one."""

    def __init__(self, **changes: Any) -> None:
        self.changes = changes
        self.error: Exception | None = None
        self.calls = 0
        self.finished = 0
        self.left = 0
        self.gate = threading.Event()
        self.gate.set()

    def invoke(self, input: Question, config: RunnableConfig | None = None, **kwargs: Any) -> Answer:
        self.calls += 1
        assert self.gate.wait(PATIENCE_S)
        return self._answer(input)

    async def ainvoke(self, input: Question, config: RunnableConfig | None = None, **kwargs: Any) -> Answer:
        self.calls += 1
        await self._opened()
        return self._answer(input)

    def stream(self, input: Question, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Answer]:
        self.calls += 1
        try:
            yield cast("Answer", {"question": input["question"]})
            assert self.gate.wait(PATIENCE_S)
            yield from list(split(self._answer(input)))[1:]
        except GeneratorExit:
            self.left += 1
            raise

    async def astream(
        self, input: Question, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Answer]:
        self.calls += 1
        try:
            yield cast("Answer", {"question": input["question"]})
            await self._opened()
            for piece in list(split(self._answer(input)))[1:]:
                yield piece
        except (asyncio.CancelledError, GeneratorExit):
            self.left += 1
            raise

    async def _opened(self) -> None:
        while not self.gate.is_set():  # noqa: ASYNC110 - tests without an event loop open it, too.
            await asyncio.sleep(0.001)

    def _answer(self, question: Question) -> Answer:
        if self.error:
            raise self.error
        self.finished += 1
        return answer(question["question"], **self.changes)


class Desk:
    """A chain behind a cache of its answers, and what the two hang on."""

    def __init__(self, *, store: ExpiringStore | None = None, fingerprint: str = "settings", **changes: Any) -> None:
        self.chain = Chain(**changes)
        self.clock = StoppedClock()
        self.stats = CacheStats()
        self.index: str | None = "1"
        kept = store or MemoryStore(capacity=10**6, ttl_s=TTL_S, clock=self.clock)
        self.cached: Any = CachedAnswers(
            self.chain,
            cache=TypedCache("answer", kept, TypeAdapter(Answer), stats=self.stats, fingerprint=fingerprint),
            version=lambda: self.index,
            stats=self.stats,
            clock=self.clock,
            ttl_s=TTL_S,
            defaults={"top_k": 10, "history": []},
        )

    def count(self, event: Event) -> int:
        return self.stats.of("answer", event)
