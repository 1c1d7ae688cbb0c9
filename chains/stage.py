"""`RunnablePassthrough.assign` without threads and tasks: the named steps of the pipeline."""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.runnables import Runnable, RunnableAssign, RunnableConfig, RunnableParallel
from langchain_core.runnables.base import coerce_to_runnable
from langchain_core.runnables.graph import Graph
from langchain_core.runnables.utils import AddableDict, is_async_callable

State = dict[str, Any]


class Stage(RunnableAssign):
    """Passes the state through and then adds its fields, one after the other.

    LangChain computes the fields of an `assign` side by side, in threads or tasks, and each piece of a stream passes
    through the callbacks of every step behind the one that makes it. Each of our fields needs the whole state before
    it, so a stage lets the pieces pass and begins its run when the last has come.

    Attributes:
        unpack: The one field is a record whose own fields become the state's.
    """

    unpack: bool = False

    def get_graph(self, config: RunnableConfig | None = None) -> Graph:
        """Return the graph of the fields, one after the other, in a box of the stage's name."""
        graph = Graph()
        last = graph.add_node(self.get_input_schema(config))
        for step in self.mapper.steps__.values():
            inner = step.get_graph(config)
            inner.trim_first_node()
            inner.trim_last_node()
            first_inner, last_inner = graph.extend(inner.reid(), prefix=self.get_name())
            if first_inner and last_inner:
                graph.add_edge(last, first_inner)
                last = last_inner
        graph.add_edge(last, graph.add_node(self.get_output_schema(config)))
        return graph

    def invoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> State:
        """Return the state with the stage's fields."""
        return self._call_with_config(self._assigned, input, config)

    async def ainvoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> State:
        """Return the state with the stage's fields."""
        return await self._acall_with_config(self._aassigned, input, config)

    def transform(self, input: Iterator[State], config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[State]:
        """Yield the parts of the state as they come, then those of the stage's fields."""
        state = AddableDict()
        for part in input:
            state += self._checked(part)
            if passed := self._passed(part):
                yield passed
        yield from self._transform_stream_with_config(iter([state]), self._parts, config)

    async def atransform(
        self, input: AsyncIterator[State], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[State]:
        """Yield the parts of the state as they come, then those of the stage's fields."""
        state = AddableDict()
        async for part in input:
            state += self._checked(part)
            if passed := self._passed(part):
                yield passed

        async def whole() -> AsyncIterator[State]:
            yield state

        async for part in self._atransform_stream_with_config(whole(), self._aparts, config):
            yield part

    def _assigned(self, state: State, run_manager: CallbackManagerForChainRun, config: RunnableConfig) -> State:
        assigned = dict(self._checked(state))
        for field, step in self.mapper.steps__.items():
            assigned |= self._named(field, step.invoke(state, config))
        return assigned

    async def _aassigned(
        self, state: State, run_manager: AsyncCallbackManagerForChainRun, config: RunnableConfig
    ) -> State:
        assigned = dict(self._checked(state))
        for field, step in self.mapper.steps__.items():
            assigned |= self._named(field, await step.ainvoke(state, config))
        return assigned

    def _parts(
        self, states: Iterator[State], run_manager: CallbackManagerForChainRun, config: RunnableConfig
    ) -> Iterator[State]:
        for state in states:
            for field, step in self.mapper.steps__.items():
                for value in step.stream(state, config):
                    yield AddableDict(self._named(field, value))

    async def _aparts(
        self, states: AsyncIterator[State], run_manager: AsyncCallbackManagerForChainRun, config: RunnableConfig
    ) -> AsyncIterator[State]:
        async for state in states:
            for field, step in self.mapper.steps__.items():
                async for value in step.astream(state, config):
                    yield AddableDict(self._named(field, value))

    def _checked(self, state: Any) -> AddableDict:
        if not isinstance(state, Mapping):
            msg = f"the chain takes a dict such as {{'question': '...'}}, not {type(state).__name__}"
            raise TypeError(msg)
        return AddableDict(state)

    def _passed(self, part: State) -> State:
        # A field of the stage's own replaces one of that name.
        return AddableDict({name: value for name, value in part.items() if name not in self.mapper.steps__})

    def _named(self, field: str, value: Any) -> Mapping[str, Any]:
        if not self.unpack:
            return {field: value}
        if not isinstance(value, Mapping):
            msg = f"stage {self.name!r} unpacks {field!r}, which must be a mapping, not {type(value).__name__}"
            raise TypeError(msg)
        return value


def stage(name: str, *, unpack: bool = False, **fields: Runnable[Any, Any] | Callable[..., Any]) -> Stage:
    """Add `fields` to the state in a step traced and timed as `name`.

    Args:
        name: the name of the step.
        unpack: merge the returned mapping into the state.
        fields: what computes each field from the state: a Runnable, or a function of the state, or of state and config.
    """
    if unpack and len(fields) != 1:
        msg = f"stage {name!r} can unpack one field, not {len(fields)}: {', '.join(fields)}"
        raise TypeError(msg)
    mapper = RunnableParallel({field: _step(compute) for field, compute in fields.items()})
    return Stage(mapper=mapper, name=name, unpack=unpack)


class SideBySide(RunnableParallel[State]):
    """Computes its fields at the same time, and hands them on together.

    LangChain's own stream of such a step leaves its tasks running when the reader of the stream leaves.

    Attributes:
        unpack: The field that is a record whose own fields stand in its place.
    """

    unpack: str = ""

    def __init__(self, steps: Mapping[str, Runnable[Any, Any]], *, unpack: str) -> None:
        super().__init__(steps)
        self.unpack = unpack

    def invoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> State:
        """Return the fields."""
        return self._unpacked(super().invoke(input, config))

    async def ainvoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> State:
        """Return the fields."""
        return self._unpacked(await super().ainvoke(input, config))

    def _unpacked(self, fields: State) -> State:
        return {**fields.pop(self.unpack), **fields}

    def stream(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[State]:
        """Yield the fields, all at once."""
        yield self.invoke(input, config)

    async def astream(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[State]:
        """Yield the fields, all at once."""
        yield await self.ainvoke(input, config)


class PureStep(Runnable[State, Any]):
    """A function of the state, or of state and config, that only computes: no run of its own, no thread, no task."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._takes_config = "config" in inspect.signature(function).parameters
        self.name = getattr(function, "__name__", type(function).__name__)

    def invoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the value."""
        return self._function(input, config) if self._takes_config else self._function(input)

    async def ainvoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the value."""
        return self.invoke(input, config)


def _step(compute: Runnable[Any, Any] | Callable[..., Any]) -> Runnable[Any, Any]:
    if isinstance(compute, Runnable) or is_async_callable(compute) or _is_generator(compute):
        return coerce_to_runnable(compute)
    return PureStep(compute)


def _is_generator(compute: Callable[..., Any]) -> bool:
    return inspect.isgeneratorfunction(compute) or inspect.isasyncgenfunction(compute)
