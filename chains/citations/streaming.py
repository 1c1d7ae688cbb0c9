"""Stream the text of an answer so that no marker is shown half and no number has to change later."""

import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.graph import Graph

from chains.citations.checking import CheckedText, SentenceGate
from chains.citations.markers import BRACKETS, LONGEST_MARKER, OPENING, OPENING_BRACKETS
from chains.state import Passage, joined

_BACKTICKS = re.compile("`+")

Record = dict[str, Any]


class StreamRewriter(Protocol):
    """Rewrites an answer piece by piece."""

    def feed(self, piece: str) -> str:
        """Take the next piece, and return what can be shown."""

    def flush(self) -> str:
        """Return the rest, once the answer has ended."""


class MarkerBuffer:
    """Hold text back from an opening bracket until it closes; change nothing."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """Take the next piece, and return what can be shown."""
        self._held += piece
        cut = self._opened_at()
        shown, self._held = self._held[:cut], self._held[cut:]
        return shown

    def flush(self) -> str:
        """Return the rest, once the answer has ended."""
        rest, self._held = self._held, ""
        return rest

    def _opened_at(self) -> int:
        open_at: list[tuple[str, int]] = []
        for found in BRACKETS.finditer(self._held):
            bracket = found.group()
            if bracket.startswith("\\"):
                continue
            if bracket in OPENING_BRACKETS:
                open_at.append((bracket, found.start()))
            elif bracket not in OPENING:
                open_at.clear()
            elif self._closes(bracket, found.start(), open_at):
                open_at.pop()
        waiting = [start for _, start in open_at if len(self._held) - start <= LONGEST_MARKER]
        ends_in_escape = self._held.endswith("\\")
        return waiting[0] if waiting else len(self._held) - ends_in_escape

    def _closes(self, bracket: str, at: int, open_at: Sequence[tuple[str, int]]) -> bool:
        if not open_at or open_at[-1][0] != OPENING[bracket]:
            return False
        return not _ends_in_code(self._held[open_at[-1][1] : at])


def rewrite(text: str, rewriter: StreamRewriter) -> str:
    """Return a whole text rewritten."""
    return rewriter.feed(text) + rewriter.flush()


class AnswerStream(Runnable[Any, Any]):
    """Add the message of `answer` and its rewritten text.

    In a stream the text comes first, in pieces, and then the whole message.

    Args:
        answer: makes the message of a state with its context.
        rewriter: makes the rewriter of an answer from the passages that the model was shown.
        check: checks whole sentences before a stream shows them; None shows words as they come.
    """

    def __init__(
        self,
        answer: Runnable[Any, Any],
        rewriter: Callable[[Sequence[Passage]], StreamRewriter],
        check: Callable[..., CheckedText] | None = None,
    ) -> None:
        self._answer = answer
        self._rewriter = rewriter
        self._check = check

    def get_graph(self, config: RunnableConfig | None = None) -> Graph:
        """Return the graph of what makes the message."""
        return self._answer.get_graph(config)

    def invoke(self, input: Mapping[str, Any], config: RunnableConfig | None = None, **kwargs: Any) -> Record:
        """Return the message and its text."""
        return self._record(input, self._answer.invoke(input, config))

    async def ainvoke(self, input: Mapping[str, Any], config: RunnableConfig | None = None, **kwargs: Any) -> Record:
        """Return the message and its text."""
        return self._record(input, await self._answer.ainvoke(input, config))

    def stream(self, input: Mapping[str, Any], config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Record]:
        """Yield the text as it comes, or as its sentences are checked, and then the message."""
        text, pieces = self._text(input), list[BaseMessage]()
        for piece in self._answer.stream(input, config):
            pieces.append(piece)
            yield from text.feed(piece.text)
        yield from text.flush()
        yield {"message": joined(pieces)}

    async def astream(
        self, input: Mapping[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Record]:
        """Yield the text as it comes, or as its sentences are checked, and then the message."""
        text, pieces = self._text(input), list[BaseMessage]()
        async for piece in self._answer.astream(input, config):
            pieces.append(piece)
            for record in text.feed(piece.text):
                yield record
        for record in text.flush():
            yield record
        yield {"message": joined(pieces)}

    def _record(self, state: Mapping[str, Any], message: BaseMessage) -> Record:
        return {"answer": rewrite(message.text, self._rewriter(state["context"]["passages"])), "message": message}

    def _text(self, state: Mapping[str, Any]) -> "StreamedText":
        rewriter = self._rewriter(state["context"]["passages"])
        if self._check is None or not state["context"]["passages"]:
            return StreamedText(rewriter)
        return StreamedText(rewriter, SentenceGate(partial(self._check, rewriter=rewriter, state=state)))


class StreamedText:
    """The text of one answer: its markers rewritten, and held until it is checked where there is a gate."""

    def __init__(self, rewriter: StreamRewriter, gate: SentenceGate | None = None) -> None:
        self._rewriter = rewriter
        self._gate = gate

    def feed(self, piece: str) -> Iterator[Record]:
        """Take the next piece; yield what can be shown."""
        words = self._rewriter.feed(piece)
        if words:
            yield from self._gate.feed(words) if self._gate else [{"answer": words}]

    def flush(self) -> Iterator[Record]:
        """Yield the rest, once the answer has ended, and an `answer` in any case."""
        words = self._rewriter.flush()
        if self._gate is None:
            yield {"answer": words}
            return
        yield {"answer": ""}
        yield from self._gate.feed(words)
        yield from self._gate.flush()


def _ends_in_code(text: str) -> bool:
    """Return whether a code span is open at the end: a bracket in it closes nothing."""
    opened = ""
    for run in _BACKTICKS.findall(text):
        opened = "" if run == opened else opened or run
    return bool(opened)
