"""What `build_chain` returns: the sequence of stages, with handlers of its own for each call."""

from dataclasses import dataclass

from langchain_core.runnables import RunnableBinding, RunnableConfig
from langchain_core.tools import BaseTool
from pydantic import BaseModel

from chains.callbacks import CacheHits, Deadline, StageTimer, StreamCleanup
from chains.clock import Clock
from chains.errors import ConfigurationError
from chains.state import Answer, Question
from chains.tool import DESCRIPTION, NAME, as_tool


@dataclass(frozen=True)
class CallHandlers:
    """Makes the callback handlers of one call, as LangChain's `with_listeners` does.

    Args:
        stages: the stages whose times are taken.
        timeout_s: how long a call may take; None sets no limit.
        clock: tells the time.
    """

    stages: tuple[str, ...]
    timeout_s: float | None
    clock: Clock

    def __call__(self, config: RunnableConfig) -> RunnableConfig:
        """Return the handlers as a config of their own."""
        limit = [] if self.timeout_s is None else [Deadline(self.timeout_s, self.clock)]
        return {"callbacks": [StageTimer(self.stages), CacheHits(), *limit, StreamCleanup()]}


class CitedAnswer(RunnableBinding[Question, Answer]):  # type: ignore[no-redef]  # Its field is called kwargs.
    """From a question to a cited answer. `bind` sets fields of every question: `chain.bind(top_k=3)`."""

    def as_tool(
        self,
        args_schema: type[BaseModel] | None = None,
        *,
        name: str | None = None,
        description: str | None = None,
        arg_types: dict[str, type] | None = None,
    ) -> BaseTool:
        """Return `chains.as_tool` of the chain.

        Raises:
            ConfigurationError: a schema is given; the tool has its own.
        """
        if args_schema or arg_types:
            msg = "the tool has a schema of its own: question and history; leave args_schema and arg_types out"
            raise ConfigurationError(msg)
        return as_tool(self, name=name or NAME, description=description or DESCRIPTION)
