"""A step of the pipeline -> the same step, passed by where the question was declined before."""

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableLambda

from chains.state import Redirect


def search_unless_declined(search: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Return `search`, which finds nothing for a declined question and is not called."""
    return _unless_declined(search, lambda _: [])


def answer_unless_declined(answer: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Return `answer`, which gives the redirect's text to a declined question and is not called."""
    return _unless_declined(answer, lambda redirect: AIMessage(redirect["text"]))


def _unless_declined(step: Runnable[Any, Any], otherwise: Callable[[Redirect], Any]) -> Runnable[Any, Any]:
    def route(state: dict[str, Any]) -> Any:
        redirect = state.get("scope")
        return step if redirect is None else otherwise(redirect)

    return RunnableLambda(route, name="unless_declined")
