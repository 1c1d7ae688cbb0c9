"""A name and the fields a stage adds -> a step of the pipeline, traced and timed under that name."""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.runnables import Runnable, RunnableAssign, RunnableConfig, RunnableParallel
from langchain_core.runnables.config import patch_config
from langchain_core.runnables.utils import AddableDict

State = dict[str, Any]


class Stage(RunnableAssign):
    """`RunnablePassthrough.assign` under a name, its fields one after the other.

    Each of our fields needs the whole state before it. LangChain computes them side by side all the same, in threads or
    tasks that go on when the reader of a stream leaves. What is passed through, what is added and in which order are
    the same.

    Attributes:
        spread: Whether the fields are records whose own fields become the state's.
    """

    spread: bool = False

    def added(self, state: State, config: RunnableConfig) -> State:
        """Return what the stage adds to a state."""
        return {
            name: value
            for field, step in self._fields()
            for name, value in self._named(field, step.invoke(state, config)).items()
        }

    async def aadded(self, state: State, config: RunnableConfig) -> State:
        """Return what the stage adds to a state."""
        added: State = {}
        for field, step in self._fields():
            added |= self._named(field, await step.ainvoke(state, config))
        return added

    def parts(self, state: State, config: RunnableConfig) -> Iterator[State]:
        """Yield what the stage adds to a state, as it comes."""
        for field, step in self._fields():
            for value in step.stream(state, config):
                yield AddableDict(self._named(field, value))

    async def aparts(self, state: State, config: RunnableConfig) -> AsyncIterator[State]:
        """Yield what the stage adds to a state, as it comes."""
        for field, step in self._fields():
            async for value in step.astream(state, config):
                yield AddableDict(self._named(field, value))

    def _fields(self) -> list[tuple[str, Runnable[Any, Any]]]:
        return list(self.mapper.steps__.items())

    def _named(self, field: str, value: Any) -> State:
        record: State = value if self.spread else {field: value}
        return record

    def _invoke(
        self, value: State, run_manager: CallbackManagerForChainRun, config: RunnableConfig, **kwargs: Any
    ) -> State:
        return value | self.added(value, _child(config, run_manager))

    async def _ainvoke(
        self, value: State, run_manager: AsyncCallbackManagerForChainRun, config: RunnableConfig, **kwargs: Any
    ) -> State:
        return value | await self.aadded(value, _child(config, run_manager))

    def _transform(
        self, values: Iterator[State], run_manager: CallbackManagerForChainRun, config: RunnableConfig, **kwargs: Any
    ) -> Iterator[State]:
        state = AddableDict()
        for part in values:
            state = state + AddableDict(part)
            yield AddableDict(part)
        yield from self.parts(state, _child(config, run_manager))

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
        async for part in self.aparts(state, _child(config, run_manager)):
            yield part


def stage(name: str, *, spread: bool = False, **fields: Runnable[Any, Any] | Callable[..., Any]) -> Stage:
    """Add `fields` to the state in a step traced and timed as `name`; with `spread`, the fields of their records."""
    steps = {field: step if isinstance(step, Runnable) else Computed(step) for field, step in fields.items()}
    return Stage(mapper=RunnableParallel(steps), name=name, spread=spread)


class Computed(Runnable[State, Any]):
    """A function of the state, or of state and config, that only computes: no run of its own, no thread, no task."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._takes_config = "config" in inspect.signature(function).parameters

    def invoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the value."""
        return self._function(input, config) if self._takes_config else self._function(input)

    async def ainvoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the value."""
        return self.invoke(input, config)


def _child(config: RunnableConfig, run_manager: Any) -> RunnableConfig:
    return patch_config(config, callbacks=run_manager.get_child())
