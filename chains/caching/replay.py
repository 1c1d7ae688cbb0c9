"""Replay another call's answer as this call's: in chunks, traced, with its own times."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.runnables import Runnable, RunnableGenerator

from chains.caching.stats import LevelName
from chains.output import split
from chains.state import Answer, Question

LEVEL: LevelName = "answer"
NAME = "cited_answer"  # The run has the name of the chain's own, and its id is the answer's `trace_id`.

Parts = AsyncIterator[Answer] | Answer
"""A whole answer for `stream`; for `astream` its parts, of which the first may be the whole."""


def replay(parts: Parts, *, elapsed_ms: Callable[[], float]) -> Runnable[Question, Answer]:
    """Return a Runnable that streams the answer; `elapsed_ms` is the time since the question was asked."""

    def stream(questions: Iterator[Question], run_manager: CallbackManagerForChainRun) -> Iterator[Answer]:
        yield from _split(_own(cast("Answer", parts), next(questions), run_manager, elapsed_ms()))

    async def astream(
        questions: AsyncIterator[Question], run_manager: AsyncCallbackManagerForChainRun
    ) -> AsyncIterator[Answer]:
        question = await anext(questions)
        async for part in cast("AsyncIterator[Answer]", parts):
            for chunk in _split(_own(part, question, run_manager, elapsed_ms())):
                yield chunk

    return RunnableGenerator(cast("Any", stream), cast("Any", astream), name=NAME)


def _own(
    part: Answer,
    question: Question,
    run: CallbackManagerForChainRun | AsyncCallbackManagerForChainRun,
    elapsed_ms: float,
) -> Answer:
    """Return the part with the words and the metadata of this call."""
    own: dict[str, Any] = dict(part)
    if "question" in own:
        own["question"] = question["question"]
    if "metadata" in own:
        fresh = {"query": question["question"], "trace_id": str(run.run_id), "cache": LEVEL}
        own["metadata"] = own["metadata"] | fresh | {"latency_ms": elapsed_ms, "timings_ms": {}}
    return cast("Answer", own)


def _split(part: Answer) -> Iterator[Answer]:
    """Split full answers; pass chunks through."""
    return split(part) if {"answer", "metadata"} <= part.keys() else iter([part])
