"""What a client sends as the conversation so far -> turns of user and assistant, in order."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field

from chains.state import Turn

MAX_TURNS = 50

_ROLES = {"human": "user", "ai": "assistant"}


def _turn(value: object) -> object:
    # LangChain's clients send messages, which call the two by other names. Instructions are nobody's turn.
    if isinstance(value, Mapping) and "role" not in value and value.get("type") in _ROLES:
        return {"role": _ROLES[value["type"]], "content": value.get("content")}
    return value


History = Annotated[
    list[Annotated[Turn, BeforeValidator(_turn)]],
    Field(
        default_factory=list,
        max_length=MAX_TURNS,
        description="The conversation so far.",
        examples=[[{"role": "user", "content": "What is GST?"}, {"role": "assistant", "content": "A tax."}]],
    ),
]
