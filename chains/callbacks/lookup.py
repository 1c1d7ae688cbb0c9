"""Find the handler of a kind among the callbacks of a call."""

from collections.abc import Sequence
from typing import Any, TypeVar

from langchain_core.callbacks import BaseCallbackHandler

Handler = TypeVar("Handler", bound=BaseCallbackHandler)


def handlers_of(callbacks: Any, kind: type[Handler]) -> list[Handler]:
    """Return the handlers of `kind` in `callbacks`, a manager, a list or None; those of the outermost chain first."""
    handlers: Sequence[Any] = getattr(callbacks, "handlers", callbacks) or ()
    return [handler for handler in handlers if isinstance(handler, kind)]


def innermost(callbacks: Any, kind: type[Handler]) -> Handler | None:
    """Return the handler of `kind` that belongs to the innermost chain, which is the last one added."""
    found = handlers_of(callbacks, kind)
    return found[-1] if found else None
