"""The context and the question -> what is asked of the model, and its message."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import Runnable, RunnableConfig

import prompts
from chains.state import Contextualised


class Ask(Runnable[Any, Any]):
    """The verb of stage 3: asks the model, or answers without it where nothing was retrieved.

    It calls prompt and model itself: as a sequence of steps each would handle every token once more.

    Args:
        model: what is asked.
        system: the prompt's text with a `{context}` placeholder. Its text is a template; what is put into it is not, so
            no document can alter it. The question travels in a message of its own.
        no_results: the answer where nothing was retrieved.
    """

    def __init__(self, model: BaseChatModel, *, system: str, no_results: str) -> None:
        self._model = model
        self._no_results = AIMessage(no_results)
        self._prompt = ChatPromptTemplate.from_messages(
            [("system", system), MessagesPlaceholder("history"), ("human", "{question}")]
        )

    def invoke(self, input: Contextualised, config: RunnableConfig | None = None, **kwargs: Any) -> BaseMessage:
        """Return the message."""
        messages = self._messages(input)
        return self._model.invoke(messages, config) if messages else self._no_results

    async def ainvoke(self, input: Contextualised, config: RunnableConfig | None = None, **kwargs: Any) -> BaseMessage:
        """Return the message."""
        messages = self._messages(input)
        return await self._model.ainvoke(messages, config) if messages else self._no_results

    def stream(
        self, input: Contextualised, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[BaseMessage]:
        """Yield the message's pieces."""
        messages = self._messages(input)
        yield from self._model.stream(messages, config) if messages else [self._no_results]

    async def astream(
        self, input: Contextualised, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[BaseMessage]:
        """Yield the message's pieces."""
        messages = self._messages(input)
        if not messages:
            yield self._no_results
            return
        async for piece in self._model.astream(messages, config):
            yield piece

    def _messages(self, state: Contextualised) -> list[BaseMessage]:
        if not state["context"]["passages"]:
            return []
        return self._prompt.format_messages(
            context=state["context"]["text"],
            history=state.get("history") or [],
            question=state["question"].strip(),
        )


def generate(model: BaseChatModel, *, system: str | None = None, no_results: str | None = None) -> Runnable[Any, Any]:
    """Return the verb of stage 3, with the packaged texts where none are given."""
    return Ask(model, system=system or prompts.load("system"), no_results=no_results or prompts.load("no_results"))
