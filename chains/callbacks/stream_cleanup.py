"""Stop what a streamed call holds open as soon as its reader leaves.

LangChain leaves the generators of such a stream to the garbage collector. A language model keeps writing, and costing,
until its connection is closed.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler

from chains.callbacks.lookup import innermost


class StreamCleanup(BaseCallbackHandler):
    """Calls what was registered when the run of the chain ends, however it ends."""

    run_inline = True
    ignore_llm = ignore_chat_model = ignore_retriever = True

    def __init__(self) -> None:
        self._root: UUID | None = None
        self._stops: list[Callable[[], object]] = []

    def register(self, stop: Callable[[], object]) -> None:
        """Have `stop` called at the end."""
        self._stops.append(stop)

    def on_chain_start(self, serialized: dict[str, Any], inputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Remember the first run, which is the chain's own."""
        self._root = self._root or run_id

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Stop what is still open when the chain has ended; a reader who leaves a `stream` ends it."""
        self._stop(run_id)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Stop what is still open when the chain has failed; a reader who leaves an `astream` breaks it off."""
        self._stop(run_id)

    def _stop(self, run_id: UUID) -> None:
        if run_id != self._root:
            return
        for stop in self._stops:
            with suppress(RuntimeError, ValueError):  # A generator that is running cannot be closed from outside.
                stop()


def register(callbacks: Any, stop: Callable[[], object]) -> None:
    """Have `stop` called at the end of the call that `callbacks` belong to."""
    cleanup = innermost(callbacks, StreamCleanup)
    if cleanup:
        cleanup.register(stop)
