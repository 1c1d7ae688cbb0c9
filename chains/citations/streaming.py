"""The model's message as it streams -> the answer's words as they may be shown: no marker half, no number to change."""

import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.messages.ai import add_ai_message_chunks
from langchain_core.runnables import Runnable, RunnableGenerator
from langchain_core.runnables.utils import AddableDict

from chains.citations.markers import LONGEST_MARKER
from chains.state import Passage

_BRACKETS = re.compile(r"\\[\s\S]|[\[\]【】]|\n[ \t]*\n")
_CLOSING = {"]": "[", "】": "【"}


class Marking(Protocol):
    """Takes an answer in pieces and gives back what may be shown."""

    def feed(self, piece: str) -> str:
        """Take the next piece, and return what can be shown."""

    def flush(self) -> str:
        """Return the rest, once the answer has ended."""


class WholeMarkers:
    """Holds text back from an opening bracket until it is closed, and changes nothing."""

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
        for found in _BRACKETS.finditer(self._held):
            character = found.group()
            if character in {"[", "【"}:
                open_at.append((character, found.start()))
            elif character not in _CLOSING and not character.startswith("\\"):
                open_at.clear()
            elif open_at and open_at[-1][0] == _CLOSING.get(character):
                open_at.pop()
        waiting = [start for _, start in open_at if len(self._held) - start <= LONGEST_MARKER]
        ends_in_escape = self._held.endswith("\\")
        return waiting[0] if waiting else len(self._held) - ends_in_escape


def stream_words(marking: Callable[[Sequence[Passage]], Marking]) -> Runnable[Any, Any]:
    """Return the step that writes the message's words as the state's answer; `marking` is made anew for each answer.

    It stands beside the stream, not in an `assign`: that lets the whole message pass before it adds the first word. The
    message itself goes on as one, after its words: nothing behind reads its pieces, and joining them costs.
    """

    def write(states: Iterator[Mapping[str, Any]]) -> Iterator[AddableDict]:
        words = _Words(marking)
        for state in states:
            yield from words.read(state)
        yield words.rest()

    async def awrite(states: AsyncIterator[Mapping[str, Any]]) -> AsyncIterator[AddableDict]:
        words = _Words(marking)
        async for state in states:
            for part in words.read(state):
                yield part
        yield words.rest()

    return RunnableGenerator(write, awrite, name="write_words")


class _Words:
    """Reads the pieces of one state: the context comes before the first piece of the message."""

    def __init__(self, marking: Callable[[Sequence[Passage]], Marking]) -> None:
        self._make = marking
        self._marking: Marking | None = None
        self._shown: Sequence[Passage] = ()
        self._pieces: list[BaseMessage] = []

    def read(self, state: Mapping[str, Any]) -> Iterator[AddableDict]:
        if "context" in state:
            self._shown = state["context"]["passages"]
        if rest := AddableDict({name: value for name, value in state.items() if name != "message"}):
            yield rest
        if "message" in state:
            self._pieces.append(state["message"])
            self._marking = self._marking or self._make(self._shown)
            if text := self._marking.feed(state["message"].text):
                yield AddableDict(answer=text)

    def rest(self) -> AddableDict:
        # An empty piece at least: the answer of a silent model is the empty text.
        return AddableDict(answer=self._marking.flush() if self._marking else "", message=_joined(self._pieces))


def _joined(pieces: Sequence[BaseMessage]) -> BaseMessage:
    first, *others = pieces
    if isinstance(first, AIMessageChunk):
        return add_ai_message_chunks(first, *(piece for piece in others if isinstance(piece, AIMessageChunk)))
    return first
