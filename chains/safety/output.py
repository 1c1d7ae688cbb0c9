"""Check the words of the model before anyone sees them: links, markup, and the prompt recited."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.graph import Graph

from chains.blocking import LINKS_REMOVED, WITHHELD
from chains.safety.fencing import protected
from chains.safety.leaks import LeakWatch, SystemPrompt
from chains.safety.links import KnownLinks
from chains.safety.markup import MarkupFilter
from chains.state import Contextualised, Passage


@dataclass
class OutputCheck:
    """Checks one answer, piece by piece.

    Attributes:
        passages: What the model is shown: where links may lead.
        prompt: The system prompt that no answer may recite; None where there is none to keep.
        canary: Random words of this call's prompt; an answer that holds them is withheld.
    """

    passages: Sequence[Passage]
    prompt: SystemPrompt | None = None
    canary: str = ""
    _markup: MarkupFilter = field(init=False)
    _leak: LeakWatch = field(init=False)

    def __post_init__(self) -> None:
        self._markup = MarkupFilter(KnownLinks(self.passages).allow)
        self._leak = LeakWatch(self.prompt, self.canary)

    def feed(self, text: str) -> str:
        """Take the next piece, and return what can be shown."""
        return self._kept(self._markup.feed(text))

    def flush(self) -> str:
        """Return the rest, once the answer has ended."""
        return self._kept(self._markup.flush())

    def findings(self) -> dict[str, Any]:
        """Return what the message's metadata says of the check."""
        found: dict[str, Any] = {LINKS_REMOVED: self._markup.removed} if self._markup.removed else {}
        return found | ({WITHHELD: "leak"} if self._leak.leaked else {})

    def _kept(self, text: str) -> str:
        if self._leak.leaked or self._leak.feed(text):
            return ""
        return text


class CheckedAnswer(Runnable[Contextualised, BaseMessage]):
    """Makes the message of `answer` from a fenced context, and hands on what of it may be shown.

    Calls of tools are left out: nothing here runs any.

    Args:
        answer: makes the message of a state with its context.
        prompt: the system prompt that no answer may recite.
        guard: what the model is told before a suspicious question.
    """

    def __init__(
        self, answer: Runnable[Contextualised, BaseMessage], prompt: SystemPrompt | None = None, guard: str = ""
    ) -> None:
        self._answer = answer
        self._prompt = prompt
        self._guard = guard

    def get_graph(self, config: RunnableConfig | None = None) -> Graph:
        """Return the graph of what makes the message."""
        return self._answer.get_graph(config)

    def invoke(self, input: Contextualised, config: RunnableConfig | None = None, **kwargs: Any) -> BaseMessage:
        """Return the message."""
        return _whole(self._answer.invoke(protected(input, self._guard), config), self._check(input))

    async def ainvoke(self, input: Contextualised, config: RunnableConfig | None = None, **kwargs: Any) -> BaseMessage:
        """Return the message."""
        return _whole(await self._answer.ainvoke(protected(input, self._guard), config), self._check(input))

    def stream(
        self, input: Contextualised, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[BaseMessage]:
        """Yield the message in pieces."""
        check, piece = self._check(input), None
        for piece in self._answer.stream(protected(input, self._guard), config):
            yield _part(piece, check)
        if isinstance(piece, AIMessageChunk):
            yield _last(check)

    async def astream(
        self, input: Contextualised, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[BaseMessage]:
        """Yield the message in pieces."""
        check, piece = self._check(input), None
        async for piece in self._answer.astream(protected(input, self._guard), config):
            yield _part(piece, check)
        if isinstance(piece, AIMessageChunk):
            yield _last(check)

    def _check(self, state: Contextualised) -> OutputCheck:
        verdict = state.get("safety")
        return OutputCheck(state["context"]["passages"], self._prompt, verdict["canary"] if verdict else "")


def _part(piece: BaseMessage, check: OutputCheck) -> BaseMessage:
    if not isinstance(piece, AIMessageChunk):
        return _whole(piece, check)
    kept = {"id": piece.id, "response_metadata": piece.response_metadata, "usage_metadata": piece.usage_metadata}
    return AIMessageChunk(content=check.feed(piece.text), **kept)


def _last(check: OutputCheck) -> AIMessageChunk:
    rest = check.flush()
    return AIMessageChunk(content=rest, response_metadata=check.findings())


def _whole(message: BaseMessage, check: OutputCheck) -> AIMessage:
    text = check.feed(message.text) + check.flush()
    return AIMessage(
        content=text,
        id=message.id,
        response_metadata=message.response_metadata | check.findings(),
        usage_metadata=getattr(message, "usage_metadata", None),
    )
