"""A Runnable that delegates to another: the base of those that do something around each call of a chain."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.graph import Graph


class DelegatingRunnable(Runnable[Any, Any]):
    """Calls the `bound` chain. A batch calls `invoke` for each question, so each call passes through here."""

    def __init__(self, bound: Runnable[Any, Any]) -> None:
        self.bound = bound

    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        """Return the chain's own schema."""
        return self.bound.get_input_schema(config)

    def get_output_schema(self, config: RunnableConfig | None = None) -> Any:
        """Return the chain's own schema."""
        return self.bound.get_output_schema(config)

    def get_graph(self, config: RunnableConfig | None = None) -> Graph:
        """Return the chain's own graph."""
        return self.bound.get_graph(config)

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
