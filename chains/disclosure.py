"""What strangers see of an answer: its confidence without factors, and its metadata without the times of the stages."""

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig

from chains.audience import audience_in
from chains.delegating import DelegatingRunnable
from chains.output import AnswerChunk

STAFF_ONLY = {"confidence": "factors", "metadata": "timings_ms"}
"""A field of an answer, and what of it is told to callers that may see internal documents."""


def for_strangers(part: Mapping[str, Any]) -> AnswerChunk:
    """Return an answer, or a part of one, without what only the staff sees: the names stay, with nothing below them."""
    hidden = {name: {**part[name], STAFF_ONLY[name]: {}} for name in STAFF_ONLY if part.get(name)}
    return AnswerChunk({**part, **hidden})


class Disclosure(DelegatingRunnable):
    """The `bound` chain; a call for the public gets its answer without what only the staff sees."""

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the answer."""
        answer = self.bound.invoke(input, config, **kwargs)
        return dict(for_strangers(answer)) if _is_public(config) else answer

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the answer."""
        answer = await self.bound.ainvoke(input, config, **kwargs)
        return dict(for_strangers(answer)) if _is_public(config) else answer

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        """Yield the answer's parts as they come."""
        for part in self.bound.stream(input, config, **kwargs):
            yield for_strangers(part) if _is_public(config) else part

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:
        """Yield the answer's parts as they come."""
        async for part in self.bound.astream(input, config, **kwargs):
            yield for_strangers(part) if _is_public(config) else part


def _is_public(config: RunnableConfig | None) -> bool:
    return audience_in(config) == "public"
