"""Stages one after another -> one Runnable, which runs them so in every way of calling.

LangChain's RunnableSequence does the same with more machinery: in a stream each piece of the answer passes every stage,
a task and a sum for each, though only one stage makes it and none behind it can begin before the last. Here a stage
begins when the one before has ended, and its pieces go straight to the reader.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from typing import Any, cast

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSequence
from langchain_core.runnables.config import _set_config_context, merge_configs, set_config_context
from langchain_core.runnables.utils import AddableDict

from chains.lifeline import Lifeline
from chains.runs import Run, aroot_run, arun_in, root_run, run_in
from chains.settling import settled, shown
from chains.stage import Stage
from chains.state import Answer, Question

_END = object()

Handlers = Callable[[], list[BaseCallbackHandler]]


class Staged(Runnable[Question, Answer]):
    """Runs the stages of a sequence.

    A reader who leaves a stream ends the call: nothing of it is held open after.

    Args:
        stages: the stages, composed with `|`.
        name: the name of the whole in traces.
        handlers: makes the callbacks that every call gets beside its own.
    """

    def __init__(self, stages: Runnable[Any, Any], *, name: str, handlers: Handlers) -> None:
        self.name = name
        self.stages = cast("list[Stage]", stages.steps if isinstance(stages, RunnableSequence) else [stages])
        self._handlers = handlers

    @property
    def InputType(self) -> Any:
        """Return the type of a question."""
        return Question

    @property
    def OutputType(self) -> Any:
        """Return the type of an answer."""
        return Answer

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the answer."""
        with root_run(self.get_name(), input, self._config(config)) as root:
            state = dict(input)
            for stage in self.stages:
                with run_in(root, stage.get_name(), state) as run, set_config_context(run.config) as context:
                    state = run.output = state | context.run(stage.added, state, run.config)
            root.output = settled(state)
        return root.output

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the answer."""
        # In a task, for it changes the context it runs in.
        return await asyncio.create_task(self._ainvoke(input, self._config(config)))

    async def _ainvoke(self, input: Any, config: RunnableConfig) -> Any:
        async with aroot_run(self.get_name(), input, config) as root:
            state = dict(input)
            for stage in self.stages:
                async with arun_in(root, stage.get_name(), state) as run:
                    _set_config_context(run.config)
                    state = run.output = state | await stage.aadded(state, run.config)
            root.output = settled(state)
        return root.output

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        """Yield the answer's parts as they come."""
        lifeline = Lifeline()
        with root_run(self.get_name(), input, self._config(config, lifeline)) as root:
            parts = root.tapped(self._parts(input, root))
            try:
                yield from parts
            finally:
                lifeline.cut()

    def _parts(self, input: Any, root: Run) -> Iterator[Any]:
        yield shown(input)
        state = dict(input)
        for stage in self.stages:
            with run_in(root, stage.get_name(), state) as run, set_config_context(run.config) as context:
                added, parts = AddableDict(), run.tapped(stage.parts(state, run.config))
                part: Any
                while (part := context.run(next, parts, _END)) is not _END:
                    added += part
                    if seen := shown(part):
                        yield seen
                state = run.output = state | added
        root.output = settled(state)

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:
        """Yield the answer's parts as they come.

        They are read in a task of their own, which is cancelled once when the reader leaves. A web server cancels a
        stream again and again until it has ended, and would so break off what closes the connection to the model.
        """
        parts: asyncio.Queue[Any] = asyncio.Queue()
        reading = asyncio.create_task(self._read(parts, input, config))
        try:
            while (part := await parts.get()) is not _END:
                yield part
            await reading
        finally:
            reading.cancel()
            await asyncio.wait((reading,))  # A wait can be cancelled without the task that it is for.

    async def _read(self, queue: asyncio.Queue[Any], input: Any, config: RunnableConfig | None) -> None:
        lifeline = Lifeline()
        try:
            async with aroot_run(self.get_name(), input, self._config(config, lifeline)) as root:
                try:
                    async for part in root.atapped(self._aparts(input, root)):
                        queue.put_nowait(part)
                finally:
                    await lifeline.acut()
        finally:
            queue.put_nowait(_END)

    async def _aparts(self, input: Any, root: Run) -> AsyncIterator[Any]:
        yield shown(input)
        state = dict(input)
        for stage in self.stages:
            async with arun_in(root, stage.get_name(), state) as run:
                _set_config_context(run.config)
                added = AddableDict()
                async with aclosing(run.atapped(stage.aparts(state, run.config))) as parts:
                    async for part in parts:
                        added += part
                        if seen := shown(part):
                            yield seen
                state = run.output = state | added
        root.output = settled(state)

    def _config(self, config: RunnableConfig | None, *handlers: BaseCallbackHandler) -> RunnableConfig:
        return merge_configs(config, {"callbacks": [*self._handlers(), *handlers]})
