"""The base of Runnables that do something around each call of a chain."""

from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.graph import Graph


class DelegatingRunnable(Runnable[Any, Any]):
    """Stands for the `bound` chain: its schemas, its graph. A batch calls `invoke` for each question."""

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
