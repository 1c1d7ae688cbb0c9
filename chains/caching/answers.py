"""A chain and a level -> the same chain, which is called once for equal questions, one after another or at once."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict
from typing import Any, NamedTuple

from langchain_core.runnables import Runnable, RunnableConfig, ensure_config

from chains.caching.counts import CacheCounts
from chains.caching.flight import Flights
from chains.caching.keys import canonical
from chains.caching.level import Level
from chains.caching.lifetime import lifetime_s
from chains.caching.retelling import LEVEL, Parts, Retelling
from chains.clock import Clock
from chains.delegating import DelegatingRunnable
from chains.errors import WaypointError
from chains.output import merge
from chains.retrieval import filters_of
from chains.state import Answer, Question, check_question


class Asked(NamedTuple):
    """One call: the question and its config, under which key its answer is kept, and when it began."""

    question: Question
    config: RunnableConfig | None
    key: str
    began: float


class CachedAnswers(DelegatingRunnable):
    """The `bound` chain behind a cache of its answers.

    Args:
        bound: what answers.
        level: where answers are kept.
        version: returns the version of the index; None keeps nothing.
        counts: told of calls that shared another's answer.
        clock: times the calls that are answered from here.
        ttl_s: how long a good answer is kept.
        defaults: the options that hold where a question has none.
    """

    def __init__(
        self,
        bound: Runnable[Question, Answer],
        *,
        level: Level[Answer],
        version: Callable[[], str | None],
        counts: CacheCounts,
        clock: Clock,
        ttl_s: float,
        defaults: dict[str, Any],
    ) -> None:
        super().__init__(bound)
        self._level = level
        self._version = version
        self._counts = counts
        self._clock = clock
        self._ttl_s = ttl_s
        self._defaults = defaults
        self._flights: Flights[Answer] = Flights()

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the answer."""
        asked = self._asked(input, config)
        if asked is None:
            return self.bound.invoke(input, config, **kwargs)
        with self._told(asked, lambda: iter([self.bound.invoke(input, config, **kwargs)])) as (parts, own):
            return merge(parts) if own else self._retelling(asked, parts).invoke(input, config)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the answer."""
        asked = self._asked(input, config)
        if asked is None:
            return await self.bound.ainvoke(input, config, **kwargs)

        async def whole() -> AsyncIterator[Answer]:
            yield await self.bound.ainvoke(input, config, **kwargs)

        async with self._atold(asked, whole) as (parts, own):
            if own:
                return merge([part async for part in parts])
            return await self._retelling(asked, parts).ainvoke(input, config)

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        """Yield the answer's parts as they come."""
        asked = self._asked(input, config)
        if asked is None:
            yield from self.bound.stream(input, config, **kwargs)
            return
        with self._told(asked, lambda: self.bound.stream(input, config, **kwargs)) as (parts, own):
            yield from parts if own else self._retelling(asked, parts).stream(input, config)

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:
        """Yield the answer's parts as they come."""
        asked = self._asked(input, config)
        if asked is None:
            async for part in self.bound.astream(input, config, **kwargs):
                yield part
            return
        async with self._atold(asked, lambda: self.bound.astream(input, config, **kwargs)) as (parts, own):
            async for part in parts if own else self._retelling(asked, parts).astream(input, config):
                yield part

    def _asked(self, question: Question, config: RunnableConfig | None) -> Asked | None:
        """Return the call under its key; None where it has none, and the chain itself says what is wrong with it."""
        began, version = self._clock.now(), self._version()
        try:
            key = self._key(question, ensure_config(config), version)
        except (WaypointError, TypeError, ValueError, RecursionError):
            return None
        return Asked(question, config, key, began) if version else None

    def _key(self, question: Question, config: RunnableConfig, version: str | None) -> str:
        given = {name: value for name, value in question.items() if value is not None}
        options = self._defaults | given | {"question": check_question(question.get("question"))}
        # What else a caller may configure counts as well; only what LangChain keeps there for itself does not.
        configured = {name: value for name, value in config["configurable"].items() if not name.startswith("__")}
        return canonical([version, options, configured | asdict(filters_of(config))])

    @contextmanager
    def _told(self, asked: Asked, answering: Callable[[], Iterator[Answer]]) -> Iterator[tuple[Iterator[Answer], bool]]:
        """Give the parts of the answer, and whether this call makes them itself."""
        (found,) = self._level.mget([asked.key])
        if found is not None:
            yield iter([found]), False
            return
        with self._flights.boarded(asked.key, lambda: self._kept(asked, answering)) as (flight, leads):
            self._count(leads)
            yield flight.read(), leads

    @asynccontextmanager
    async def _atold(
        self, asked: Asked, answering: Callable[[], AsyncIterator[Answer]]
    ) -> AsyncIterator[tuple[AsyncIterator[Answer], bool]]:
        (found,) = await self._level.amget([asked.key])
        if found is not None:
            yield _alone(found), False
            return
        with self._flights.aboarded(asked.key, lambda: self._akept(asked, answering)) as (flight, leads):
            self._count(leads)
            yield flight.aread(), leads

    def _kept(self, asked: Asked, answering: Callable[[], Iterator[Answer]]) -> Generator[Answer]:
        """Yield the answer's parts, then keep it; one that was kept a moment ago is told in its place."""
        (found,) = self._level.mget([asked.key], again=True)
        if found is not None:
            yield from self._retelling(asked, iter([found])).stream(asked.question, asked.config)
            return
        parts = []
        for part in answering():
            parts.append(part)
            yield part
        answer = merge(parts)
        if lifetime := lifetime_s(answer, self._ttl_s):
            self._level.mset([(asked.key, answer)], ttl_s=lifetime)

    async def _akept(self, asked: Asked, answering: Callable[[], AsyncIterator[Answer]]) -> AsyncGenerator[Answer]:
        (found,) = await self._level.amget([asked.key], again=True)
        if found is not None:
            async for part in self._retelling(asked, _alone(found)).astream(asked.question, asked.config):
                yield part
            return
        parts = []
        async for part in answering():
            parts.append(part)
            yield part
        answer = merge(parts)
        if lifetime := lifetime_s(answer, self._ttl_s):
            await self._level.amset([(asked.key, answer)], ttl_s=lifetime)

    def _retelling(self, asked: Asked, parts: Parts) -> Retelling:
        return Retelling(parts, elapsed_ms=lambda: round(1000 * (self._clock.now() - asked.began), 3))

    def _count(self, leads: bool) -> None:
        if not leads:
            self._counts.add(LEVEL, "shared")


async def _alone(answer: Answer) -> AsyncIterator[Answer]:
    yield answer
