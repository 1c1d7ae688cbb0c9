"""Stage 3. The context and the question -> the model's message, streamed token by token."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import Runnable, RunnableLambda

import prompts
from chains.state import Contextualised


def generate(model: BaseChatModel, *, system: str | None = None, no_results: str | None = None) -> Runnable[Any, Any]:
    """Return the verb of stage 3: ask `model`, or answer `no_results` without it where nothing was retrieved.

    `system` is the prompt's text with a `{context}` placeholder. Its text is a template; what is put into it is not,
    so no document can alter it. The question travels in a message of its own.
    """
    ask = ChatPromptTemplate.from_messages(
        [("system", system or prompts.load("system")), MessagesPlaceholder("history"), ("human", "{question}")]
    )
    answering = RunnableLambda(_prompt_values, name="prompt_values") | ask | model
    fallback = no_results or prompts.load("no_results")

    def choose(state: Contextualised) -> Runnable[Any, Any] | AIMessage:
        return answering if state["context"]["passages"] else AIMessage(fallback)

    return RunnableLambda(choose, name="ask_model")


def _prompt_values(state: Contextualised) -> dict[str, Any]:
    return {
        "context": state["context"]["text"],
        "history": state.get("history") or [],
        "question": state["question"].strip(),
    }
