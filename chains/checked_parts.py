"""Refuse parts of a chain that cannot work, when it is built."""

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import Runnable, RunnableAssign
from langchain_core.vectorstores import VectorStore

from chains.errors import ConfigurationError


def check_model(model: object) -> None:
    """Check that a model answers with messages.

    Raises:
        ConfigurationError: it does not.
    """
    if isinstance(model, str):
        msg = f"model={model!r} is a name; pass a chat model, such as langchain's init_chat_model({model!r})"
        raise ConfigurationError(msg)
    if not isinstance(model, Runnable):
        msg = f"model must be a chat model of LangChain, not {_kind(model)}"
        raise ConfigurationError(msg)
    if _gives_text(model):
        msg = "model gives text instead of messages; pass the chat model itself, without an output parser behind it"
        raise ConfigurationError(msg)


def check_retriever(retriever: object) -> None:
    """Check that something can be asked for documents.

    Raises:
        ConfigurationError: it cannot.
    """
    if isinstance(retriever, VectorStore):
        msg = f"retriever is the vector store {_kind(retriever)}; pass its as_retriever()"
        raise ConfigurationError(msg)
    if not isinstance(retriever, Runnable) and not callable(retriever):
        msg = f"retriever must be a Runnable or a function from a question to documents, not {_kind(retriever)}"
        raise ConfigurationError(msg)


def check_stages(stages: Mapping[str, object]) -> None:
    """Check that stages of one's own add fields to the state.

    Raises:
        ConfigurationError: one does not.
    """
    for place, own in stages.items():
        if not isinstance(own, RunnableAssign):
            msg = f"stages[{place!r}] is {_kind(own)}; wrap what computes a field: stage('name', field=compute)"
            raise ConfigurationError(msg)


def _gives_text(model: Runnable[Any, Any]) -> bool:
    try:
        return model.OutputType is str
    except TypeError:  # It does not say.
        return False


def _kind(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
