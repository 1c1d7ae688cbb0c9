"""What `build_chain` returns, and what it refuses when it is built: parts of a chain that cannot work."""

from collections.abc import Mapping, Sequence
from typing import Any, get_origin

from langchain_core.messages import BaseMessage
from langchain_core.output_parsers import BaseOutputParser
from langchain_core.runnables import Runnable, RunnableAssign, RunnableBinding, RunnableConfig
from langchain_core.tools import BaseTool
from langchain_core.vectorstores import VectorStore
from pydantic import BaseModel

from chains.callbacks import CallRecord, Deadline
from chains.clock import Clock
from chains.errors import ConfigurationError
from chains.reuse.tool import DESCRIPTION, NAME, as_tool
from chains.state import Answer, Question


def check_model(model: object) -> None:
    """Raise ConfigurationError for a model that does not answer with messages."""
    if isinstance(model, str):
        msg = f"model={model!r} is a name; pass a chat model, such as langchain's init_chat_model({model!r})"
        raise ConfigurationError(msg)
    if not isinstance(model, Runnable):
        raise ConfigurationError(f"model must be a chat model of LangChain, not {_kind(model)}")
    kind = output_of(model)
    if isinstance(getattr(model, "last", None), BaseOutputParser) or (
        issubclass(kind, str | dict | BaseModel) and not issubclass(kind, BaseMessage)
    ):
        given = "text" if kind is str else "parsed values"
        advice = "pass the chat model itself, without an output parser or with_structured_output behind it"
        raise ConfigurationError(f"model gives {given} instead of messages; {advice}")


def check_retriever(retriever: object) -> None:
    """Raise ConfigurationError for what cannot be asked for documents."""
    if isinstance(retriever, VectorStore):
        raise ConfigurationError(f"retriever is a vector store, {type(retriever).__name__}; pass its as_retriever()")
    if not isinstance(retriever, Runnable) and not callable(retriever):
        msg = f"retriever must be a Runnable or a function from a question to documents, not {_kind(retriever)}"
        raise ConfigurationError(msg)


def check_stages(stages: Mapping[str, object], names: Sequence[str]) -> None:
    """Raise ConfigurationError unless stages of one's own add fields, each behind a stage with one of the names.

    None may set the words that stage 4 reads in the model's message.
    """
    for place, own in stages.items():
        if place not in names:
            msg = f"Unknown stage {place!r}; choose one of {', '.join(names)}"
        elif not isinstance(own, RunnableAssign):
            msg = f"stages[{place!r}] is {_kind(own)}; wrap what computes a field: stage('name', field=compute)"
        elif "answer" in own.mapper.steps__:
            where = "whose citations are read in 'message' behind 'generation': replace that AIMessage there"
            msg = f"stages[{place!r}] sets 'answer', {where}"
        else:
            continue
        raise ConfigurationError(msg)


def output_of(runnable: Runnable[Any, Any]) -> type:
    """Return the class of what a Runnable gives; `object` where it does not say."""
    try:
        given = runnable.OutputType
    except TypeError:
        return object
    kind = get_origin(given) or given
    return kind if isinstance(kind, type) else object


def _kind(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def call_handlers(stages: tuple[str, ...], timeout_s: float | None, clock: Clock, _: RunnableConfig) -> RunnableConfig:
    """Return the callback handlers of one call as a config, as LangChain's `with_listeners` does."""
    limit = [] if timeout_s is None else [Deadline(timeout_s, clock)]
    return {"callbacks": [CallRecord(stages), *limit]}


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
        """Return `chains.as_tool` of the chain; ConfigurationError for a schema, since the tool has its own."""
        if args_schema or arg_types:
            msg = "the tool has a schema of its own: question and history; leave args_schema and arg_types out"
            raise ConfigurationError(msg)
        return as_tool(self, name=name or NAME, description=description or DESCRIPTION)
