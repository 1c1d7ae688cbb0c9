"""`RunnablePassthrough.assign` without threads and tasks: the named steps of the pipeline."""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import partial
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.runnables import Runnable, RunnableAssign, RunnableConfig, RunnableParallel, RunnablePassthrough
from langchain_core.runnables.base import coerce_to_runnable
from langchain_core.runnables.config import run_in_executor
from langchain_core.runnables.graph import Graph
from langchain_core.runnables.utils import AddableDict, is_async_callable

from chains.callbacks import CallRecord, Deadline
from chains.question import check_fields
from chains.state import Question

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
            # Ids stay unique where two chains are drawn in one; LangChain draws a box by the names' common beginning.
            for node in inner.nodes.values():
                inner.nodes[node.id] = node.copy(name=f"{self.get_name()}:{node.name}")
            first_inner, last_inner = graph.extend(inner)
            if first_inner and last_inner:
                graph.add_edge(last, first_inner)
                last = last_inner
        graph.add_edge(last, graph.add_node(self.get_output_schema(config)))
        return graph

    def invoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> State:
        state = self._checked(input, kwargs)
        return {**state, **self._call_with_config(_of(self._fields, state), _recorded(state), config)}

    async def ainvoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> State:
        state = self._checked(input, kwargs)
        return {**state, **await self._acall_with_config(_of(self._afields, state), _recorded(state), config)}

    def transform(self, input: Iterator[State], config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[State]:
        """Yield the parts of the state as they come, then those of the stage's fields."""
        state = AddableDict()
        for given in input:
            part = self._checked(given, {} if state else kwargs)
            state += part
            if passed := self._passed(part):
                yield passed
        yield from self._transform_stream_with_config(iter([_recorded(state)]), _of(self._parts, state), config)

    async def atransform(
        self, input: AsyncIterator[State], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[State]:
        state = AddableDict()
        async for given in input:
            part = self._checked(given, {} if state else kwargs)
            state += part
            if passed := self._passed(part):
                yield passed

        async def whole() -> AsyncIterator[State]:
            yield _recorded(state)

        async for found in self._atransform_stream_with_config(whole(), _of(self._aparts, state), config):
            yield found

    def _fields(
        self, state: State, recorded: State, run_manager: CallbackManagerForChainRun, config: RunnableConfig
    ) -> State:
        _keep_brief(run_manager)
        added: State = {}
        for field, step in self.mapper.steps__.items():
            added |= self._named(field, step.invoke(state, config))
        return added

    async def _afields(
        self, state: State, recorded: State, run_manager: AsyncCallbackManagerForChainRun, config: RunnableConfig
    ) -> State:
        _keep_brief(run_manager)
        added: State = {}
        for field, step in self.mapper.steps__.items():
            added |= self._named(field, await step.ainvoke(state, config))
        return added

    def _parts(
        self, state: State, recorded: Iterator[State], run_manager: CallbackManagerForChainRun, config: RunnableConfig
    ) -> Iterator[State]:
        _keep_brief(run_manager)
        for _ in recorded:
            for field, step in self.mapper.steps__.items():
                for value in step.stream(state, config):
                    yield AddableDict(self._named(field, value))

    async def _aparts(
        self,
        state: State,
        recorded: AsyncIterator[State],
        run_manager: AsyncCallbackManagerForChainRun,
        config: RunnableConfig,
    ) -> AsyncIterator[State]:
        _keep_brief(run_manager)
        async for _ in recorded:
            for field, step in self.mapper.steps__.items():
                async for value in step.astream(state, config):
                    yield AddableDict(self._named(field, value))

    def _checked(self, given: Any, bound: Mapping[str, Any]) -> AddableDict:
        """Return the state with the fields that `bind` has set; the question's own ones count before them."""
        if not isinstance(given, Mapping):
            raise TypeError(f"the chain takes a dict such as {{'question': '...'}}, not {type(given).__name__}")
        check_fields(bound, Question.__annotations__, "a question")
        return AddableDict({**bound, **given})

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


_SIGNATURE = inspect.signature(lambda recorded, run_manager, config: None)


def _of(compute: Callable[..., Any], state: State) -> Callable[..., Any]:
    """Return what computes the fields of this state; LangChain reads its signature several times in each call."""
    fields = partial(compute, state)
    fields.__signature__ = _SIGNATURE  # type: ignore[attr-defined]  # Else it is worked out anew each time.
    return fields


def _recorded(state: State) -> State:
    """Return what the trace shows of a stage's input: what the stages before it added stands with them."""
    return {name: state[name] for name in ("question", "search_query") if name in state}


def _keep_brief(run: Any) -> None:
    """Let the end of a stage's run tell the places of passages alone: their words are in the retriever's run."""
    if all(isinstance(handler, CallRecord | Deadline) for handler in run.handlers):
        return  # They read none of it.
    end = run.on_chain_end
    run.on_chain_end = lambda outputs, **more: end(brief(outputs), **more)


def brief(value: Any) -> Any:
    """Return what a trace shows of a field: the places of passages, and no text of a context, which the model gets."""
    if isinstance(value, list):
        return [brief(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    if "content" in value and "metadata" in value:
        place = {**value["metadata"], "score": value.get("score")}
        return {name: place[name] for name in (*PLACE, "score") if place.get(name) is not None}
    return {name: brief(part) for name, part in value.items() if name != "text" or "passages" not in value}


PLACE = ("doc_id", "section", "page")


def stage(
    name: str,
    assign: RunnableAssign | None = None,
    /,
    *,
    unpack: bool = False,
    **fields: Runnable[Any, Any] | Callable[..., Any],
) -> Stage:
    """Return `RunnablePassthrough.assign(...)` as a step traced and timed as `name`.

    Args:
        name: the name of the step.
        assign: what `RunnablePassthrough.assign` has made of Runnables; or else
        fields: what computes each field from the state: a Runnable, or a function of the state, or of state and config.
            Async calls run a function in a thread.
        unpack: merge the mapping that the one field gets into the state.
    """
    assigned = assign or RunnablePassthrough.assign(**{field: step_of(compute) for field, compute in fields.items()})
    if unpack and len(assigned.mapper.steps__) != 1:
        raise TypeError(f"stage {name!r} can unpack one field, not {len(fields)}: {', '.join(fields)}")
    # The mapper of an assign is of a class that LangChain makes on the spot, and cannot be pickled.
    return Stage(mapper=RunnableParallel(assigned.mapper.steps__), name=name, unpack=unpack)


class SideBySide(Runnable[State, State]):
    """Computes its fields at the same time and hands them on at once; those of the field `unpack` in its place.

    LangChain's own stream of such a step leaves its tasks running when the reader of the stream leaves.
    """

    def __init__(self, steps: Mapping[str, Runnable[Any, Any]], *, unpack: str) -> None:
        self._steps, self._unpack = RunnableParallel(steps), unpack

    def get_graph(self, config: RunnableConfig | None = None) -> Graph:
        return self._steps.get_graph(config)

    def invoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> State:
        fields = self._steps.invoke(input, config)
        return {**fields.pop(self._unpack), **fields}

    async def ainvoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> State:
        fields = await self._steps.ainvoke(input, config)
        return {**fields.pop(self._unpack), **fields}


class FunctionStep(Runnable[State, Any]):
    """A function of the state, or of state and config, without a run of its own; async calls run it in a thread."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._takes_config = "config" in inspect.signature(function).parameters
        self.name = getattr(function, "__name__", type(function).__name__)

    def invoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return self._function(input, config) if self._takes_config else self._function(input)

    async def ainvoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return await run_in_executor(config, self.invoke, input, config)


class QuickStep(FunctionStep):
    """A function that takes no longer than the way to a thread and back."""

    async def ainvoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return self.invoke(input, config)


def step_of(compute: Runnable[Any, Any] | Callable[..., Any]) -> Runnable[Any, Any]:
    is_generator = inspect.isgeneratorfunction(compute) or inspect.isasyncgenfunction(compute)
    if isinstance(compute, Runnable) or is_async_callable(compute) or is_generator:
        return coerce_to_runnable(compute)
    return FunctionStep(compute)
