"""A step and the callbacks of its call -> a run that they are told of: its beginning, its end, or what broke it off.

LangChain's own way of doing this configures the callbacks anew for every step, and tells them in tasks. That costs more
than most of our steps; here a call configures them once, and handlers that answer at once are told at once.
"""

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import lru_cache
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManager, BaseCallbackHandler, CallbackManager
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.runnables.config import get_async_callback_manager_for_config, get_callback_manager_for_config
from langchain_core.tracers._streaming import _StreamingCallbackHandler

_EVENTS = ("on_chain_start", "on_chain_end", "on_chain_error")


class Run:
    """A run under way.

    Attributes:
        manager: LangChain's manager of the run.
        config: For what is called in it.
        output: What the callbacks are told came of it.
    """

    def __init__(self, manager: Any, config: RunnableConfig) -> None:
        self.manager = manager
        self.config: RunnableConfig = config | {"callbacks": manager.get_child()}
        self.output: Any = None

    def tapped(self, parts: Iterator[Any]) -> Iterator[Any]:
        """Return the parts, which `stream_events` reads along."""
        tap = self._tap()
        return tap.tap_output_iter(self.manager.run_id, parts) if tap else parts

    def atapped(self, parts: AsyncIterator[Any]) -> AsyncGenerator[Any]:
        """Return the parts, which `astream_events` reads along."""
        tap = self._tap()
        return cast("AsyncGenerator[Any]", tap.tap_output_aiter(self.manager.run_id, parts) if tap else parts)

    def _tap(self) -> _StreamingCallbackHandler[Any] | None:
        handlers = self.manager.handlers
        return next((handler for handler in handlers if isinstance(handler, _StreamingCallbackHandler)), None)


@contextmanager
def root_run(name: str, input: Any, config: RunnableConfig | None) -> Iterator[Run]:
    """Tell the callbacks of a call, which is named as its config says, or else `name`."""
    own = ensure_config(config)
    with _running(get_callback_manager_for_config(own), name, input, own) as run:
        yield run


@asynccontextmanager
async def aroot_run(name: str, input: Any, config: RunnableConfig | None) -> AsyncIterator[Run]:
    """Tell the callbacks of a call, which is named as its config says, or else `name`."""
    own = ensure_config(config)
    manager: Any = get_callback_manager_for_config(own)
    if not all(map(_answers_at_once, manager.handlers)):
        manager = get_async_callback_manager_for_config(own)
    async with _arunning(manager, name, input, own) as run:
        yield run


@contextmanager
def run_in(parent: Run, name: str, input: Any) -> Iterator[Run]:
    """Tell the callbacks of a step of `parent`."""
    with _running(_manager_of(parent), name, input, parent.config) as run:
        yield run


@asynccontextmanager
async def arun_in(parent: Run, name: str, input: Any) -> AsyncIterator[Run]:
    """Tell the callbacks of a step of `parent`."""
    async with _arunning(_manager_of(parent), name, input, parent.config) as run:
        yield run


def _manager_of(run: Run) -> Any:
    return run.config["callbacks"]


def _answers_at_once(handler: BaseCallbackHandler) -> bool:
    kind: Any = type(handler)
    return handler.run_inline and not _is_asynchronous(kind)


@lru_cache(maxsize=256)
def _is_asynchronous(handler: type[BaseCallbackHandler]) -> bool:
    return any(inspect.iscoroutinefunction(getattr(handler, event)) for event in _EVENTS)


@contextmanager
def _running(manager: CallbackManager, name: str, input: Any, config: RunnableConfig) -> Iterator[Run]:
    options, inner = _taken(name, config)
    run = Run(manager.on_chain_start(None, input, **options), inner)
    try:
        yield run
    except BaseException as error:
        run.manager.on_chain_error(error)
        raise
    else:
        run.manager.on_chain_end(run.output)


@asynccontextmanager
async def _arunning(
    manager: CallbackManager | AsyncCallbackManager, name: str, input: Any, config: RunnableConfig
) -> AsyncIterator[Run]:
    if isinstance(manager, CallbackManager):
        with _running(manager, name, input, config) as run:
            yield run
        return
    options, inner = _taken(name, config)
    run = Run(await manager.on_chain_start(None, input, **options), inner)
    try:
        yield run
    except BaseException as error:
        await run.manager.on_chain_error(error)
        raise
    else:
        await run.manager.on_chain_end(run.output)


def _taken(name: str, config: RunnableConfig) -> tuple[dict[str, Any], RunnableConfig]:
    """Return what a run takes of a config for itself, and the rest."""
    inner = config.copy()
    run_id, run_name = inner.pop("run_id", None), inner.pop("run_name", None)
    return {"run_id": run_id, "name": run_name or name}, inner
