"""A name and the fields a stage adds -> a step of the pipeline, traced and timed under that name."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.runnables import Runnable, RunnableAssign, RunnableConfig, RunnableParallel
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
        super().__init__(RunnableParallel(fields))

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


def also(**fields: Runnable[Any, Any] | Callable[..., Any]) -> Runnable[Any, Any]:
    """Add fields inside a stage that are derived from the ones the stage has just added."""
    return Assign(**fields)


def spread(field: str, record: type) -> dict[str, Callable[..., Any]]:
    """Return the fields of the `record` that stands in the state's `field`, each as a field of the state itself."""
    return {name: _inner(field, name) for name in record.__annotations__}


def _inner(field: str, name: str) -> Callable[..., Any]:
    return lambda state: state[field][name]


def _child(config: RunnableConfig, run_manager: Any) -> RunnableConfig:
    return patch_config(config, callbacks=run_manager.get_child())
