"""Clean a question and its history before the chain, its observers, caches and traces see them."""

from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig

from chains.around import Around
from chains.ports import Redacted
from chains.safety.sanitizing import sanitize
from chains.state import Answer, Question

Rewrite = Callable[[str], str]
Redact = Callable[[str], Redacted]


class CleanQuestions(Around):
    """The `bound` chain, which gets questions without invisible characters and personal data.

    Args:
        bound: what answers.
        redact: returns a text with the kinds of personal data in place of the data; None leaves them in.
    """

    def __init__(self, bound: Runnable[Question, Answer], redact: Redact | None = None) -> None:
        super().__init__(bound)
        self._redact = redact

    def before(self, question: Any, config: RunnableConfig | None) -> Any:
        """Return the question, and its history, as the chain may see them; `redacted` names the kinds of data."""
        if not isinstance(question, Mapping) or not isinstance(question.get("question"), str):
            return question  # The chain says what is wrong with it.
        asked = clean(question["question"], self._redact)
        cleaned = {**question, "question": asked.text}
        if history := question.get("history"):
            cleaned["history"] = rewrite_turns(history, lambda text: clean(text, self._redact).text)
        return cleaned | ({"redacted": asked.kinds} if asked.kinds else {})


def clean(text: str, redact: Redact | None) -> Redacted:
    """Return a text without invisible characters and, if `redact` is given, without personal data."""
    sane = sanitize(text)
    return redact(sane) if redact else Redacted(sane, [])


def rewrite_turns(history: Any, rewrite: Rewrite) -> Any:
    """Return the turns of a conversation, as messages of LangChain or as records, each with its text rewritten."""
    return [_rewritten(turn, rewrite) for turn in history] if isinstance(history, list | tuple) else history


def _rewritten(turn: Any, rewrite: Rewrite) -> Any:
    if isinstance(turn, BaseMessage):
        return turn.model_copy(update={"content": _content(turn.content, rewrite)})
    if isinstance(turn, Mapping) and "content" in turn:
        return {**turn, "content": _content(turn["content"], rewrite)}
    if isinstance(turn, list | tuple) and len(turn) == len(("role", "content")):
        return type(turn)((turn[0], _content(turn[1], rewrite)))
    return rewrite(turn) if isinstance(turn, str) else turn


def _content(content: Any, rewrite: Rewrite) -> Any:
    """Return a message's content with its text rewritten: words, or a list of parts."""
    if isinstance(content, str):
        return rewrite(content)
    if isinstance(content, list):
        return [_content(part, rewrite) for part in content]
    if isinstance(content, Mapping) and isinstance(content.get("text"), str):
        return {**content, "text": rewrite(content["text"])}
    return content
