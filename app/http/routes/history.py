"""What a client sends as the conversation so far -> turns of user and assistant, in order."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field
from typing_extensions import TypedDict

from chains.state import is_text

MAX_TURNS = 50


class Turn(TypedDict):
    """One message of the conversation before the question."""

    role: Literal["user", "assistant"]
    content: str


_ROLES = {"human": "user", "ai": "assistant"}


def _turn(value: object) -> object:
    # LangChain's clients send messages, which call the two by other names. Instructions are nobody's turn.
    if isinstance(value, Mapping) and "role" not in value and value.get("type") in _ROLES:
        return {"role": _ROLES[value["type"]], "content": value.get("content")}
    return value


def _is_text(turn: Turn) -> Turn:
    if not is_text(turn["content"]):
        msg = "content holds half of a surrogate pair, which is no text"
        raise ValueError(msg)
    return turn


History = Annotated[
    list[Annotated[Turn, BeforeValidator(_turn), AfterValidator(_is_text)]],
    Field(
        default_factory=list,
        max_length=MAX_TURNS,
        description="The conversation so far.",
        examples=[[{"role": "user", "content": "What is GST?"}, {"role": "assistant", "content": "A tax."}]],
    ),
]
