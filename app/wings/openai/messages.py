"""What clients of OpenAI's contracts send: a conversation whose last message is the question."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Annotated, Any, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, StrictBool, field_validator

from app.edge import CLOSEST, SOURCES, UNSUPPORTED
from app.http.errors import RequestRefusedError
from app.http.questions import HISTORY_MAX_CHARACTERS, HISTORY_MAX_TURNS
from chains.question import check_question, question_with
from chains.state import Question

MOST_MESSAGES = 500
ONLY_TEXT = "only text is supported; leave out images, audio and files"
_TEXTS = {"input_text", "output_text", "text"}
_MODEL = Field(max_length=200, examples=["llama-3.1-8b-instant"], description="One of GET /v1/models.")

_METADATA = Field(
    None,
    examples=[{"filters": '{"category": "carrier"}'}],
    description="`filters`, as JSON or an object, narrow the documents; the rest is ignored.",
)


class TextPart(BaseModel):
    """A part of a message; only text is read."""

    model_config = ConfigDict(extra="allow")

    type: Literal["text"]
    text: str


class Message(BaseModel):
    """One message; system and tool messages are ignored, because the prompt is the service's own."""

    model_config = ConfigDict(extra="allow")

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[TextPart] | None = Field(None, examples=["What is the GST rate on imports?"])

    @field_validator("content", mode="before")
    @classmethod
    def _only_text(cls, content: object) -> object:
        parts = content if isinstance(content, list) else []
        if any(isinstance(part, dict) and part.get("type") != "text" for part in parts):
            raise ValueError(ONLY_TEXT)
        return content

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content or ())


class StreamOptions(BaseModel):
    """What a stream carries besides the words."""

    model_config = ConfigDict(extra="allow")

    include_usage: bool | None = None


class CompletionBody(BaseModel):
    """A conversation whose last message is the question. Sampling is set by the service; other fields are ignored."""

    model: str = _MODEL
    messages: Annotated[list[Message], Field(min_length=1, max_length=MOST_MESSAGES)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    response_format: dict[str, Any] | None = Field(None, description="Only the type `text` is supported.")
    tools: list[Any] | None = Field(None, description="Refused: the service calls no tools.")
    n: Literal[1] | None = Field(None, description="Always one answer.")
    metadata: dict[str, Any] | None = _METADATA

    def check_served(self) -> None:
        """Refuse what would change the answer and is not served."""
        if (self.response_format or {}).get("type", "text") != "text":
            msg = "response_format is not supported: answers are text with citations"
            _refuse("response_format", f"{msg}; leave it out and read the annotations")
        if self.tools:
            _refuse("tools", "tools are not supported: this model answers from documents; leave them out")


class ResponseBody(BaseModel):
    """A question, or a conversation whose last message is one. Other fields, such as sampling, are ignored."""

    model: str = _MODEL
    input: str | Annotated[list[dict[str, Any]], Field(min_length=1, max_length=MOST_MESSAGES)] = Field(
        examples=["What is the GST rate on imports?"]
    )
    stream: StrictBool | None = None
    tools: list[Any] | None = Field(None, description="Refused: the service calls no tools.")
    text: dict[str, Any] | None = Field(None, description="Only the format `text` is supported.")
    previous_response_id: str | None = Field(None, description="Refused: send the conversation as `input`.")
    conversation: Any = Field(None, description="Refused: send the conversation as `input`.")
    background: StrictBool | None = Field(None, description="Refused: answers are given at once.")
    metadata: dict[str, Any] | None = _METADATA

    def check_served(self) -> None:
        """Refuse what would change the answer and is not served."""
        for name, advice in (
            ("tools", "this model answers from documents; leave them out"),
            ("previous_response_id", "nothing is stored; send the conversation as `input`"),
            ("conversation", "nothing is stored; send the conversation as `input`"),
            ("background", "answers are given at once; leave it out"),
        ):
            if getattr(self, name):
                _refuse(name, f"{name} is not supported: {advice}")
        if ((self.text or {}).get("format") or {}).get("type", "text") != "text":
            msg = "text.format is not supported: answers are text with citations"
            _refuse("text.format", f"{msg}; leave it out and read the annotations")

    @property
    def messages(self) -> list[Message]:
        """Return the input's messages, without other items; RequestRefusedError if there is none, or not only text."""
        if isinstance(self.input, str):
            return [Message(role="user", content=self.input)]
        items = [item for item in self.input if item.get("type", "message") == "message"]
        if not items:
            _refuse("input", "input needs a message of the user")
        messages = []
        for item in items:
            content = item.get("content")
            parts = content if isinstance(content, list) else []
            if any(not isinstance(part, dict) or part.get("type") not in _TEXTS for part in parts):
                _refuse("input", ONLY_TEXT)
            texts = [{"type": "text", "text": str(part.get("text", ""))} for part in parts]
            try:
                messages.append(Message.model_validate({"role": item.get("role"), "content": texts or content}))
            except ValueError:
                _refuse("input", "each message needs a role and a content of text")
        return messages


def _refuse(param: str, message: str) -> NoReturn:
    raise RequestRefusedError(400, message, param=param)


def question_of(messages: Sequence[Message], metadata: Mapping[str, Any] | None = None) -> Question:
    """Return the last message as the question, with the turns before it that fit into a history, and its filters.

    Raise QuestionError if the question is empty or too long; RequestRefusedError if the last message is not the user's,
    or the filters are no JSON.
    """
    *before, last = messages
    if last.role != "user":
        raise RequestRefusedError(400, "The last message must be the user's")
    text, filters = check_question(last.text), (metadata or {}).get("filters")
    try:
        filters = json.loads(filters) if filters and isinstance(filters, str) else filters
    except (ValueError, RecursionError):
        _refuse("metadata", 'metadata.filters must be JSON, such as {"category": "carrier"}')
    return question_with(text, history=history_of(before), filters=filters)


def history_of(messages: Iterable[Message]) -> list[dict[str, str]]:
    """Return the last turns that fit into a history, without the lists of sources and passages below them."""
    turns = []
    for message in messages:
        text = message.text
        for heading in (SOURCES, UNSUPPORTED, CLOSEST):
            text = text.partition(heading)[0]
        if message.role in {"user", "assistant"} and text.strip():
            turns.append({"role": message.role, "content": text})
    total = 0

    def fits(turn: dict[str, str]) -> bool:
        nonlocal total
        total += len(turn["content"])
        return total <= HISTORY_MAX_CHARACTERS

    return list(takewhile(fits, reversed(turns[-HISTORY_MAX_TURNS:])))[::-1]
