"""A chain -> one that does the same, to build upon for what has to happen around each of its calls."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig


class Around(Runnable[Any, Any]):
    """Calls the `bound` chain. A batch calls `invoke` for each question, so nothing passes by."""

    def __init__(self, bound: Runnable[Any, Any]) -> None:
        self.bound = bound

    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        """Return the chain's own schema."""
        return self.bound.get_input_schema(config)

    def get_output_schema(self, config: RunnableConfig | None = None) -> Any:
        """Return the chain's own schema."""
        return self.bound.get_output_schema(config)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the answer."""
        return self.bound.invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the answer."""
        return await self.bound.ainvoke(input, config, **kwargs)

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        """Yield the answer's parts as they come."""
        yield from self.bound.stream(input, config, **kwargs)

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:
        """Yield the answer's parts as they come."""
        async for part in self.bound.astream(input, config, **kwargs):
            yield part
