"""The conversation before a question: who said what, oldest first."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)
from typing_extensions import TypedDict

from chains.errors import QuestionError
from chains.ports import FourCharacters, TokenCounter

Role = Literal["user", "assistant"]

# A marker of an answer: [1], [2, 3], [Title > Section]. A link has its address behind it.
_MARKER = re.compile(r"[ \t]?\[[^\[\]\n]{1,300}\](?![(:])")


class HistoryMessage(TypedDict):
    """One message of the conversation before the question."""

    role: Role
    content: str


class Turn(NamedTuple):
    """One message of a conversation."""

    role: Role
    text: str


def turns_of(history: Sequence[Any] | None) -> list[Turn]:
    """Return the turns of user and assistant, oldest first, without those that say nothing.

    Args:
        history: messages in any form of LangChain: dicts with role and content, pairs, or message objects. Those of
            the system and of tools, and calls of tools, are left out: an agent's messages can be handed on as they are.

    Raises:
        QuestionError: an entry is not a message, or its role is unknown.
    """
    try:
        messages = convert_to_messages(history or [])
    except (ValueError, TypeError, NotImplementedError, KeyError, AttributeError) as error:
        raise QuestionError("history must be a list of messages like {'role': 'user', 'content': '...'}") from error
    return [turn for message in messages if (turn := _turn(message)) and turn.text]


@dataclass(frozen=True)
class HistoryWindow:
    """What of a conversation a prompt holds: whole turns, the newest first, within `max_tokens`."""

    max_tokens: int = 1000
    tokens: TokenCounter = field(default_factory=FourCharacters)

    def turns(self, history: Sequence[Any] | None) -> list[Turn]:
        """Return the turns, oldest first, as `turns_of` reads them, from a user's on; answers without their markers."""
        turns = (Turn(role, without_markers(text) if role == "assistant" else text) for role, text in turns_of(history))
        return newest(list(turns), self.max_tokens, self.tokens.count)


def newest(turns: Sequence[Turn], most: int, size: Callable[[str], int]) -> list[Turn]:
    """Return the last turns whose texts are together not larger than `most`; they begin with a user's."""
    kept: list[Turn] = []
    for turn in reversed(turns):
        most -= size(turn.text)
        if most < 0:
            break
        kept.insert(0, turn)
    return kept[1:] if kept and kept[0].role == "assistant" else kept


def without_markers(text: str) -> str:
    """Return an older answer without its markers: they name passages that the next answer is not shown."""
    return _MARKER.sub("", text)


def _turn(message: BaseMessage) -> Turn | None:
    """Return what two people said; None of what is for a model and its tools."""
    match message:
        case HumanMessage():
            return Turn("user", message.text.strip())
        case AIMessage():
            calls = message.tool_calls or message.invalid_tool_calls
            return None if calls else Turn("assistant", message.text.strip())
        case SystemMessage() | ToolMessage() | FunctionMessage():
            return None
    raise QuestionError(f"history holds a message of {message.type!r}; only those of user and assistant can be read")
