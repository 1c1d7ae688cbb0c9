"""A name and the fields a stage adds -> a step of the pipeline, traced and timed under that name."""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.runnables import Runnable, RunnableAssign, RunnableConfig, RunnableLambda, RunnableParallel
from langchain_core.runnables.config import patch_config
from langchain_core.runnables.utils import AddableDict

State = dict[str, Any]


class Assign(RunnableAssign):
    """`RunnablePassthrough.assign`, its fields one after the other.

    Each of our fields needs the whole state before it. LangChain computes them side by side all the same, in threads or
    tasks that go on when the reader of a stream leaves; here nothing is left behind, and a client that leaves stops the
    generation. What is passed through, what is added and in which order are the same.
    """

    def __init__(self, **fields: Runnable[Any, Any] | Callable[..., Any]) -> None:
        super().__init__(RunnableParallel({name: _step(field) for name, field in fields.items()}))

    def _invoke(
        self, value: State, run_manager: CallbackManagerForChainRun, config: RunnableConfig, **kwargs: Any
    ) -> State:
        return value | {name: step.invoke(value, _child(config, run_manager)) for name, step in self._fields()}

    async def _ainvoke(
        self, value: State, run_manager: AsyncCallbackManagerForChainRun, config: RunnableConfig, **kwargs: Any
    ) -> State:
        added = {name: await step.ainvoke(value, _child(config, run_manager)) for name, step in self._fields()}
        return value | added

    def _transform(
        self, values: Iterator[State], run_manager: CallbackManagerForChainRun, config: RunnableConfig, **kwargs: Any
    ) -> Iterator[State]:
        state = AddableDict()
        for part in values:
            state = state + AddableDict(part)
            yield AddableDict(part)
        for name, step in self._fields():
            for value in step.stream(state, _child(config, run_manager)):
                yield AddableDict({name: value})

    async def _atransform(
        self,
        values: AsyncIterator[State],
        run_manager: AsyncCallbackManagerForChainRun,
        config: RunnableConfig,
        **kwargs: Any,
    ) -> AsyncIterator[State]:
        state = AddableDict()
        async for part in values:
            state = state + AddableDict(part)
            yield AddableDict(part)
        for name, step in self._fields():
            async for value in step.astream(state, _child(config, run_manager)):
                yield AddableDict({name: value})

    def _fields(self) -> list[tuple[str, Runnable[Any, Any]]]:
        return list(self.mapper.steps__.items())


def stage(
    name: str, *steps: Runnable[Any, Any], **fields: Runnable[Any, Any] | Callable[..., Any]
) -> Runnable[Any, Any]:
    """Add `fields` to the state in a step traced and timed as `name`; `steps` add more that build on those."""
    body: Runnable[Any, Any] = Assign(**fields)
    for step in steps:
        body = body | step
    return body.with_config(run_name=name)


class Spread(Runnable[State, State]):
    """Adds the fields of the record that stands in the state's `field`, each as a field of the state itself."""

    def __init__(self, field: str) -> None:
        self._field = field

    def invoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> State:
        """Return the state with the record's fields."""
        record: State = input[self._field]
        return input | record

    async def ainvoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> State:
        """Return the state with the record's fields."""
        return self.invoke(input)

    def transform(self, input: Iterator[State], config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[State]:
        """Pass the stream on, and the record's fields behind the record."""
        for part in input:
            yield from self._spread(part)

    async def atransform(
        self, input: AsyncIterator[State], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[State]:
        """Pass the stream on, and the record's fields behind the record."""
        async for part in input:
            for shown in self._spread(part):
                yield shown

    def _spread(self, part: State) -> Iterator[State]:
        yield part
        if self._field in part:
            yield AddableDict(part[self._field])


def _step(field: Runnable[Any, Any] | Callable[..., Any]) -> Runnable[Any, Any]:
    """Return the field as a step; a plain function, which only computes, needs no thread to be awaited."""
    if isinstance(field, Runnable):
        return field
    function = field
    if "config" in inspect.signature(function).parameters:

        async def compute_with(state: State, config: RunnableConfig) -> Any:
            return function(state, config)

        return RunnableLambda(function, afunc=compute_with)

    async def compute(state: State) -> Any:
        return function(state)

    return RunnableLambda(function, afunc=compute)


def _child(config: RunnableConfig, run_manager: Any) -> RunnableConfig:
    return patch_config(config, callbacks=run_manager.get_child())
