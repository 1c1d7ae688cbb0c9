"""What a client sends: a question's text, history and options; the config of its run."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Request
from langchain_core.runnables import RunnableConfig
from pydantic import AfterValidator, BeforeValidator, Field

from app.adapters.identity import Identity
from chains.history import HistoryMessage
from chains.question import QUERY_MAX_CHARACTERS, QUESTION_PATTERN, is_text

# A query of 1,000 characters and this history fit into a body of 10 kB with the JSON around them.
HISTORY_MAX_TURNS = 20
HISTORY_MAX_CHARACTERS = 8000


def _number(kind: str) -> BeforeValidator:
    """Accept JSON numbers only: no booleans and no strings; 9.0 is an integer."""

    def check(value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"Input should be a valid {kind}")
        return value

    return BeforeValidator(check)


TopK = Annotated[int, Field(ge=1, le=100), _number("integer")]
ChatTopK = Annotated[int, Field(ge=1, le=20), _number("integer")]
Threshold = Annotated[float, Field(ge=0, le=1), _number("number")]

# The chain validates the text, with a message for each mistake; this only describes it.
QUERY_SCHEMA: dict[str, Any] = {"minLength": 1, "maxLength": QUERY_MAX_CHARACTERS, "pattern": QUESTION_PATTERN}


_ROLES = {"human": "user", "ai": "assistant"}


def _turn(value: object) -> object:
    # LangChain's clients send messages, with types instead of roles. A system message is not a turn.
    if isinstance(value, Mapping) and "role" not in value and value.get("type") in _ROLES:
        return {"role": _ROLES[value["type"]], "content": value.get("content")}
    return value


def _check(turns: list[HistoryMessage]) -> list[HistoryMessage]:
    if not all(is_text(turn["content"]) for turn in turns):
        raise ValueError("content contains invalid Unicode (unpaired surrogate)")
    if sum(len(turn["content"]) for turn in turns) > HISTORY_MAX_CHARACTERS:
        msg = f"a history holds at most {HISTORY_MAX_CHARACTERS} characters in all its turns; send the last turns only"
        raise ValueError(msg)
    return turns


History = Annotated[
    list[Annotated[HistoryMessage, BeforeValidator(_turn)]],
    Field(
        default_factory=list,
        max_length=HISTORY_MAX_TURNS,
        description=f"The conversation so far, at most {HISTORY_MAX_CHARACTERS} characters in all.",
        examples=[[{"role": "user", "content": "What is GST?"}, {"role": "assistant", "content": "A tax."}]],
    ),
    AfterValidator(_check),
]


LANGUAGE_SCHEMA: dict[str, Any] = {
    "max_length": 35,
    "pattern": r"^([A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*)?$",
    "description": "Language of texts that replace an answer, such as `id`; English if there is no translation.",
}

SESSION_MAX_CHARACTERS = 200
SESSION_DESCRIPTION = "Stores the conversation under this id for its caller; `history` takes precedence."

SessionId = Annotated[str | None, Field(max_length=SESSION_MAX_CHARACTERS, description=SESSION_DESCRIPTION)]


def identity_of(request: Request) -> Identity:
    """Return the caller, or an anonymous one without rights."""
    return getattr(request.state, "identity", None) or Identity()


def run_config(request: Request, **metadata: str | None) -> RunnableConfig:
    """Return the config of a question's run: its audience and who asks. Anonymous callers see public documents."""
    identity = identity_of(request)
    known = {"request_id": getattr(request.state, "request_id", None), "user_id": identity.user_id, **metadata}
    metadata = {name: value for name, value in known.items() if value is not None}
    return {"configurable": {"audience": identity.audience}, "metadata": metadata}
