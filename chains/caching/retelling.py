"""An answer that another call made -> the same answer as a call of its own: in pieces, traced, with its own times."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.runnables import Runnable, RunnableConfig

from chains.caching.counts import LevelName
from chains.output import merge, split
from chains.state import Answer, Question

LEVEL: LevelName = "answer"

Parts = Iterator[Answer] | AsyncIterator[Answer]


class Retelling(Runnable[Question, Answer]):
    """Tells the `parts`, or the whole, to the asker of the same question; `elapsed_ms` is the time since it was asked.

    The run has the name of the chain's own, and its id is the answer's `trace_id`. Parts that come asynchronously are
    told so.
    """

    name = "cited_answer"

    def __init__(self, parts: Parts, *, elapsed_ms: Callable[[], float]) -> None:
        self._parts = parts
        self._elapsed_ms = elapsed_ms

    def invoke(self, input: Question, config: RunnableConfig | None = None, **kwargs: Any) -> Answer:
        """Return the whole answer."""

        def tell(question: Question, run_manager: CallbackManagerForChainRun) -> Answer:
            return self._own(merge(self._told()), question, run_manager)

        return self._call_with_config(tell, input, config)

    async def ainvoke(self, input: Question, config: RunnableConfig | None = None, **kwargs: Any) -> Answer:
        """Return the whole answer."""

        async def tell(question: Question, run_manager: AsyncCallbackManagerForChainRun) -> Answer:
            return self._own(merge([part async for part in self._atold()]), question, run_manager)

        return await self._acall_with_config(tell, input, config)

    def stream(self, input: Question, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Answer]:
        """Yield the answer's parts as they come."""

        def tell(questions: Iterator[Question], run_manager: CallbackManagerForChainRun) -> Iterator[Answer]:
            question = next(questions)
            for part in self._told():
                yield from _cut(self._own(part, question, run_manager))

        return self._transform_stream_with_config(iter([input]), tell, config)

    def astream(self, input: Question, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Answer]:
        """Yield the answer's parts as they come."""

        async def tell(
            questions: AsyncIterator[Question], run_manager: AsyncCallbackManagerForChainRun
        ) -> AsyncIterator[Answer]:
            question = await anext(questions)
            async for part in self._atold():
                for piece in _cut(self._own(part, question, run_manager)):
                    yield piece

        return self._atransform_stream_with_config(_alone(input), tell, config)

    def _told(self) -> Iterator[Answer]:
        return cast("Iterator[Answer]", self._parts)

    def _atold(self) -> AsyncIterator[Answer]:
        return cast("AsyncIterator[Answer]", self._parts)

    def _own(
        self, part: Answer, question: Question, run: CallbackManagerForChainRun | AsyncCallbackManagerForChainRun
    ) -> Answer:
        """Return the part as an answer to this asker."""
        own: dict[str, Any] = dict(part)
        if "question" in own:
            own["question"] = question["question"]
        if "metadata" in own:
            fresh = {"query": question["question"], "trace_id": str(run.run_id), "cache": LEVEL}
            own["metadata"] = own["metadata"] | fresh | {"latency_ms": self._elapsed_ms(), "timings_ms": {}}
        return cast("Answer", own)


def _cut(part: Answer) -> Iterator[Answer]:
    """Yield a whole answer in pieces; what is a piece already is one."""
    return split(part) if {"answer", "metadata"} <= part.keys() else iter([part])


async def _alone(question: Question) -> AsyncIterator[Question]:
    yield question
