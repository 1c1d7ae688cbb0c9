"""Do something around each call of a chain: before it, to the parts of its answer, and after it."""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import ConfigurableFieldSpec, Runnable, RunnableConfig
from langchain_core.runnables.graph import Graph

from chains.documents.audience import audience_in
from chains.output import AnswerChunk, merge


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call of a chain, with `invoke` or, where it is `streamed`, with `stream`."""

    bound: Runnable[Any, Any]
    question: Any
    config: RunnableConfig | None
    options: dict[str, Any]
    streamed: bool = False

    def ask(self, question: Any) -> Iterator[Any]:
        """Return the parts of the chain's answer; without a stream the whole answer is the one part."""
        if self.streamed:
            return self.bound.stream(question, self.config, **self.options)
        return iter([self.bound.invoke(question, self.config, **self.options)])

    def aask(self, question: Any) -> AsyncIterator[Any]:
        ask = self.bound.astream if self.streamed else self._whole
        return ask(question, self.config, **self.options)

    async def _whole(self, question: Any, config: RunnableConfig | None, **options: Any) -> AsyncIterator[Any]:
        yield await self.bound.ainvoke(question, config, **options)


@dataclass(eq=False, repr=False)
class Around(Runnable[Any, Any]):
    """Call the `bound` chain, and do something around each call.

    Schemas, graph, callbacks and traces are the chain's: this makes no run of its own. Override `before` and `shown` to
    change the question and the parts of the answer; override `parts` and `aparts` to do more. Each way of calling goes
    through one of these two, and a batch calls `invoke` for each question.
    """

    bound: Runnable[Any, Any]

    def before(self, question: Any, config: RunnableConfig | None) -> Any:
        return question

    def shown(self, part: Any, config: RunnableConfig | None) -> Any:
        """Return what the caller gets of a part of the answer, or of the whole answer."""
        return part

    def parts(self, call: Invocation) -> Iterator[Any]:
        for part in call.ask(self.before(call.question, call.config)):
            yield self.shown(part, call.config)

    async def aparts(self, call: Invocation) -> AsyncIterator[Any]:
        async for part in call.aask(self.before(call.question, call.config)):
            yield self.shown(part, call.config)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return _whole(self.parts(Invocation(self.bound, input, config, kwargs)))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return _whole([part async for part in self.aparts(Invocation(self.bound, input, config, kwargs))])

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        return self.parts(Invocation(self.bound, input, config, kwargs, streamed=True))

    def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:
        return self.aparts(Invocation(self.bound, input, config, kwargs, streamed=True))

    def get_name(self, suffix: str | None = None, *, name: str | None = None) -> str:
        return self.bound.get_name(suffix, name=name)

    @property
    def steps(self) -> Sequence[Runnable[Any, Any]]:
        steps: Sequence[Runnable[Any, Any]] = self.bound.steps  # type: ignore[attr-defined]  # A sequence has them.
        return steps

    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        return self.bound.get_input_schema(config)

    def get_output_schema(self, config: RunnableConfig | None = None) -> Any:
        return self.bound.get_output_schema(config)

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        return self.bound.config_specs

    def get_graph(self, config: RunnableConfig | None = None) -> Graph:
        return self.bound.get_graph(config)


def _whole(parts: Iterable[Any]) -> Any:
    first, *others = parts
    return merge([first, *others]) if others else first


STAFF_ONLY = {"confidence": "factors", "metadata": "timings_ms"}
"""A field of an answer, and the part of it that only callers with access to internal documents see."""


def for_strangers(part: Mapping[str, Any]) -> AnswerChunk:
    """Return an answer, or a part of one, with the fields for staff emptied."""
    hidden = {name: {**part[name], STAFF_ONLY[name]: {}} for name in STAFF_ONLY if part.get(name)}
    return AnswerChunk({**part, **hidden})


class Disclosure(Around):
    """The `bound` chain, whose answers to the public lack what only staff sees."""

    def shown(self, part: Any, config: RunnableConfig | None) -> Any:
        """Return a part of the answer as the caller of this config may see it."""
        return for_strangers(part) if audience_in(config) == "public" else part
