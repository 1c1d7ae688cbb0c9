"""Clean a question and its history before anything else sees them: the chain, its observers, its caches, its traces."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig

from chains.delegating import DelegatingRunnable
from chains.safety.pii import Redacted
from chains.safety.sanitizing import sanitize
from chains.state import Answer, Question

Clean = Callable[[str], str]


class CleanQuestions(DelegatingRunnable):
    """The `bound` chain, asked without what nobody sees in a question, and without personal data.

    Args:
        bound: what answers.
        redact: returns a text with the kinds of personal data in place of the data; None leaves them in.
    """

    def __init__(self, bound: Runnable[Question, Answer], redact: Callable[[str], Redacted] | None = None) -> None:
        super().__init__(bound)
        self._redact = redact

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the answer."""
        return self.bound.invoke(self._cleaned(input), config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the answer."""
        return await self.bound.ainvoke(self._cleaned(input), config, **kwargs)

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        """Yield the answer's parts as they come."""
        yield from self.bound.stream(self._cleaned(input), config, **kwargs)

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:
        """Yield the answer's parts as they come."""
        async for part in self.bound.astream(self._cleaned(input), config, **kwargs):
            yield part

    def _cleaned(self, question: Any) -> Any:
        if not isinstance(question, Mapping) or not isinstance(question.get("question"), str):
            return question  # The chain says what is wrong with it.
        kinds: list[str] = []

        def clean(text: str) -> str:
            sane = sanitize(text)
            if self._redact is None:
                return sane
            redacted = self._redact(sane)
            kinds.extend(kind for kind in redacted.kinds if kind not in kinds)
            return redacted.text

        cleaned = {**question, "question": clean(question["question"])}
        if history := question.get("history"):
            cleaned["history"] = rewrite_turns(history, clean)
        return cleaned | ({"redacted": kinds} if kinds else {})


def rewrite_turns(history: Any, clean: Clean) -> Any:
    """Return the turns of a conversation, as messages of LangChain or as records, each with its text cleaned."""
    return [_rewritten(turn, clean) for turn in history] if isinstance(history, list) else history


def _rewritten(turn: Any, clean: Clean) -> Any:
    if isinstance(turn, BaseMessage) and isinstance(turn.content, str):
        return turn.model_copy(update={"content": clean(turn.content)})
    if isinstance(turn, Mapping) and isinstance(turn.get("content"), str):
        return {**turn, "content": clean(turn["content"])}
    if isinstance(turn, list | tuple) and len(turn) == len(("role", "content")) and isinstance(turn[1], str):
        return type(turn)((turn[0], clean(turn[1])))
    return turn
