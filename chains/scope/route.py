"""A step of the pipeline -> the same step, passed by where the question was declined before."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableConfig

from chains.around import Around
from chains.state import Redirect


class UnlessDeclined(Around):
    """The `bound` step; for a declined question it is not called, and `otherwise` says what comes of the redirect."""

    def __init__(self, bound: Runnable[Any, Any], otherwise: Callable[[Redirect], Any]) -> None:
        super().__init__(bound)
        self._otherwise = otherwise

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return what the step makes of the state, or what the redirect says."""
        redirect = input.get("scope")
        return super().invoke(input, config, **kwargs) if redirect is None else self._otherwise(redirect)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return what the step makes of the state, or what the redirect says."""
        redirect = input.get("scope")
        return await super().ainvoke(input, config, **kwargs) if redirect is None else self._otherwise(redirect)

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        """Yield what the step makes of the state, or what the redirect says."""
        redirect = input.get("scope")
        yield from super().stream(input, config, **kwargs) if redirect is None else [self._otherwise(redirect)]

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:
        """Yield what the step makes of the state, or what the redirect says."""
        if (redirect := input.get("scope")) is not None:
            yield self._otherwise(redirect)
            return
        async for part in super().astream(input, config, **kwargs):
            yield part


def search_unless_declined(search: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Return `search`, which finds nothing for a declined question and is not called."""
    return UnlessDeclined(search, lambda _: [])


def answer_unless_declined(answer: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Return `answer`, which gives the redirect's text to a declined question and is not called."""
    return UnlessDeclined(answer, lambda redirect: AIMessage(redirect["text"]))
