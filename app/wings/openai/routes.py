"""POST /v1/chat/completions and /v1/responses, GET /v1/models: OpenAI's contracts, for any chat front end.

What clients send is a conversation whose last message is the question.
"""

import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing
from itertools import accumulate
from typing import Annotated, Any, Literal, NoReturn, cast
from uuid import uuid4

from fastapi import APIRouter, Request
from fastapi import Response as HttpResponse
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError, field_validator

from app.edge import CLOSEST, SOURCES, UNSUPPORTED
from app.http.errors import RequestRefusedError
from app.http.events import EventStream
from app.http.openapi import ANSWER, ok_response
from app.http.policy import KILOBYTE, Policy
from app.http.questions import HISTORY_MAX_CHARACTERS, HISTORY_MAX_TURNS, run_config
from app.wings.openai.replies import Completion, Response, events
from app.wiring import Service
from chains.question import check_question, question_with
from chains.state import Question

MOST_MESSAGES = 500
ONLY_TEXT = "only text is supported; leave out images, audio and files"
_TEXTS = "input_text", "output_text", "text"  # No set: what a client sends may have no hash.
_MODEL = Field(max_length=200, examples=["llama-3.1-8b-instant"], description="One of GET /v1/models.")

_METADATA = Field(
    None,
    examples=[{"filters": '{"category": "carrier"}'}],
    description="`filters`, as JSON or an object, narrow the documents; the rest is ignored.",
)


class TextPart(BaseModel):
    """A part of a message; only text is read."""

    model_config = ConfigDict(extra="allow")

    type: Literal["text", "input_text", "output_text"]
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
        if any(isinstance(part, dict) and part.get("type") not in _TEXTS for part in parts):
            raise ValueError(ONLY_TEXT)
        return content

    @property
    def text(self) -> str:
        return self.content if isinstance(self.content, str) else "\n".join(part.text for part in self.content or ())


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
        try:
            return [Message.model_validate(item) for item in items]
        except ValidationError:
            _refuse("input", f"each message needs a role and a content of text; {ONLY_TEXT}")


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
    latest = turns[-HISTORY_MAX_TURNS:][::-1]
    sizes = accumulate(len(turn["content"]) for turn in latest)
    return [turn for turn, size in zip(latest, sizes, strict=True) if size <= HISTORY_MAX_CHARACTERS][::-1]


OFFLINE = "offline"


class Model(BaseModel):
    """A model that answers."""

    id: str = Field(examples=["llama-3.1-8b-instant"])
    object: Literal["model"] = "model"
    created: int = Field(examples=[1763800000])
    owned_by: str = "waypoint"


class ModelList(BaseModel):
    """The models that answer, the default first."""

    object: Literal["list"] = "list"
    data: list[Model]


_COMPLETION = Completion("llama-3.1-8b-instant").whole(ANSWER) | {"id": "chatcmpl-0b6d7c0e", "created": 1763800000}
_RESPONSE = Response("llama-3.1-8b-instant").whole(ANSWER) | {"id": "resp_0b6d7c0e", "created_at": 1763800000}


def completions_router(services: Service) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["OpenAI"])
    names = (OFFLINE,) if services.settings.llm.provider == OFFLINE else services.settings.llm.models
    created = int(time.time())
    models = {name: Model(id=name, created=created) for name in names}
    conversation = Policy(body_bytes=128 * KILOBYTE, errors="openai", invalid={"": "a JSON object with messages"})

    async def answered(
        request: Request, body: CompletionBody | ResponseBody, reply: Completion | Response
    ) -> HttpResponse:
        body.check_served()
        _find(models, body.model)
        chain = services.numbered_chain(None if body.model == OFFLINE else body.model)
        question = question_of(body.messages, body.metadata)
        config = run_config(request, model_id=body.model) | {"run_id": uuid4()}
        if not body.stream:
            return JSONResponse(reply.whole(await chain.ainvoke(question, config)))
        return EventStream(events(request, await _opened(chain.astream(question, config)), reply))

    @router.post(
        "/chat/completions",
        responses=ok_response(_COMPLETION, "The answer, or server-sent events of `chat.completion.chunk`"),
    )
    @conversation
    async def chat_completions(request: Request, body: CompletionBody) -> HttpResponse:
        """Answer the last message, whole or as a stream."""
        usage = bool(body.stream_options and body.stream_options.include_usage)
        return await answered(request, body, Completion(body.model, usage=usage))

    responses = ok_response(_RESPONSE, "The answer, or server-sent events")

    @router.post("/responses", responses=responses)
    @conversation
    async def create_response(request: Request, body: ResponseBody) -> HttpResponse:
        """Answer the input, whole or as a stream."""
        return await answered(request, body, Response(body.model))

    @router.get("/models", response_description="The models")
    @Policy(errors="openai")
    async def list_models() -> ModelList:
        """Return the models that answer."""
        return ModelList(data=list(models.values()))

    @router.get("/models/{model:path}", response_description="The model")
    @Policy(errors="openai")
    async def read_model(model: str) -> Model:
        """Return one of the models."""
        return _find(models, model)

    return router


def _find(models: Mapping[str, Model], name: str) -> Model:
    if name not in models:
        msg = f"The model {name!r} is not available; GET /v1/models lists those that are"
        raise RequestRefusedError(404, msg, code="model_not_found", param="model")
    return models[name]


async def _opened(parts: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """Return the parts once the first words have arrived: until then an error can have its own status."""
    first: list[Any] = []
    try:
        async for part in parts:
            first.append(part)
            if "answer" in part:
                break
    except BaseException:
        await cast("AsyncGenerator[Any]", parts).aclose()
        raise

    async def resumed() -> AsyncIterator[Any]:
        async with aclosing(cast("AsyncGenerator[Any]", parts)):
            for part in first:
                yield part
            async for part in parts:
                yield part

    return resumed()
