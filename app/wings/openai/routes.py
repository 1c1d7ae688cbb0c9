"""POST /v1/chat/completions and /v1/responses, GET /v1/models: OpenAI's contracts, for any chat front end."""

import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Annotated, Any, Literal, cast
from uuid import uuid4

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import BaseModel, ConfigDict, Field

from app.http.errors import RequestRefusedError, logged_reply, openai_error
from app.http.events import EventStream
from app.http.openapi import ok_response, openai_error_responses
from app.http.policy import KILOBYTE, Policy
from app.http.questions import bad_request_route, run_config
from app.wings.openai import responses
from app.wings.openai.messages import (
    Message,
    Usage,
    annotations_of,
    below,
    extension_of,
    finish_reason_of,
    message_of,
    question_of,
    usage_of,
)
from app.wiring import Services
from chains.output import merge
from chains.state import Answer, Question

OFFLINE = "offline"
MOST_MESSAGES = 500


class ResponseFormat(BaseModel):
    """Only text is supported: a schema would leave no room for citations."""

    model_config = ConfigDict(extra="allow")

    type: str = "text"


class StreamOptions(BaseModel):
    """What a stream carries besides the words."""

    model_config = ConfigDict(extra="allow")

    include_usage: bool | None = None


class CompletionBody(BaseModel):
    """A conversation whose last message is the question. Sampling is set by the service; other fields are ignored."""

    model: str = Field(max_length=200, examples=["llama-3.1-8b-instant"], description="One of GET /v1/models.")
    messages: Annotated[list[Message], Field(min_length=1, max_length=MOST_MESSAGES)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    response_format: ResponseFormat | None = None
    tools: list[Any] | None = Field(None, description="Refused: the service calls no tools.")
    n: Literal[1] | None = Field(None, description="Always one answer.")


class CompletionMessage(BaseModel):
    """The answer with markers and sources, and its links as annotations."""

    role: Literal["assistant"]
    content: str
    refusal: None
    annotations: list[Any]


class CompletionChoice(BaseModel):
    """The one answer."""

    index: int
    message: CompletionMessage
    logprobs: None
    finish_reason: str


class Completion(BaseModel):
    """OpenAI's chat completion; `waypoint` adds outcome, confidence and trace id."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[CompletionChoice]
    usage: Usage
    waypoint: dict[str, Any]


class Model(BaseModel):
    """A model that answers."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "waypoint"


class ModelList(BaseModel):
    """The models that answer, the default first."""

    object: Literal["list"] = "list"
    data: list[Model]


_MODEL = {"id": "llama-3.1-8b-instant", "object": "model", "created": 1763800000, "owned_by": "waypoint"}
_COMPLETION = {
    "id": "chatcmpl-0b6d7c0e",
    "object": "chat.completion",
    "created": 1763800000,
    "model": "llama-3.1-8b-instant",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "It is 9 % [1].\n\nSources:\n\n1. [GST Guide > Rate](https://example.org/gst)",
                "refusal": None,
                "annotations": [
                    {
                        "type": "url_citation",
                        "url_citation": {
                            "start_index": 10,
                            "end_index": 13,
                            "title": "GST Guide > Rate",
                            "url": "https://example.org/gst",
                        },
                    }
                ],
            },
            "logprobs": None,
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 412, "completion_tokens": 14, "total_tokens": 426},
    "waypoint": {"outcome": "answered", "confidence": {"level": "High"}, "trace_id": "0b6d7c0e"},
}
_ERRORS = openai_error_responses(400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 504)


class Models:
    """The models that answer, by name."""

    def __init__(self, services: Services) -> None:
        names = (OFFLINE,) if services.settings.provider == OFFLINE else services.settings.llm.models
        created = int(time.time())
        self._services = services
        self.offered = {name: Model(id=name, created=created) for name in names}

    def find(self, name: str) -> Model:
        """Return a model.

        Raises:
            RequestRefusedError: there is none of this name.
        """
        if name not in self.offered:
            msg = f"The model {name!r} is not available; GET /v1/models lists those that are"
            raise RequestRefusedError(404, msg, code="model_not_found", param="model")
        return self.offered[name]

    def chain(self, name: str) -> Runnable[Question, Answer]:
        """Return the chain that asks a model."""
        self.find(name)
        return self._services.numbered_chain(None if name == OFFLINE else name)


def completions_router(services: Services) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/v1", tags=["OpenAI"], route_class=bad_request_route("a JSON object with messages"))
    models = Models(services)

    @Policy(body_bytes=128 * KILOBYTE, errors="openai")  # A whole conversation.
    async def chat_completions(request: Request, body: CompletionBody) -> Response:
        """Answer the last message, whole or as a stream."""
        _refuse_unserved(body)
        return await _completed(request, body, models.chain(body.model))

    @Policy(body_bytes=128 * KILOBYTE, errors="openai")
    async def create_response(request: Request, body: responses.ResponseBody) -> Response:
        """Answer the input, whole or as a stream."""
        responses.refuse_unserved(body)
        return await _responded(request, body, models.chain(body.model))

    @Policy(errors="openai")
    async def list_models() -> ModelList:
        """Return the models that answer."""
        return ModelList(data=list(models.offered.values()))

    @Policy(errors="openai")
    async def read_model(model: str) -> Model:
        """Return one of the models."""
        return models.find(model)

    add = router.add_api_route
    replies = _ERRORS | ok_response(_COMPLETION, "The answer, or server-sent events of `chat.completion.chunk`")
    add("/chat/completions", chat_completions, methods=["POST"], response_model=Completion, responses=replies)
    replies = _ERRORS | ok_response(responses.EXAMPLE, "The answer, or server-sent events")
    add("/responses", create_response, methods=["POST"], response_model=responses.ResponseObject, responses=replies)
    listed = ok_response({"object": "list", "data": [_MODEL]}, "The models")
    add("/models", list_models, methods=["GET"], responses=openai_error_responses(401, 403, 429) | listed)
    one = openai_error_responses(401, 403, 404, 429) | ok_response(_MODEL, "The model")
    add("/models/{model:path}", read_model, methods=["GET"], responses=one)
    return router


async def _completed(request: Request, body: CompletionBody, chain: Runnable[Question, Answer]) -> Response:
    question, config = question_of(body.messages), _config(request, body.model)
    if body.stream:
        parts = await _opened(chain.astream(question, config))
        usage = bool(body.stream_options and body.stream_options.include_usage)
        return EventStream(_events(request, parts, _head(body.model, "chat.completion.chunk"), usage=usage))
    answer = await chain.ainvoke(question, config)
    choice = {
        "index": 0,
        "message": message_of(answer),
        "logprobs": None,
        "finish_reason": finish_reason_of(answer),
    }
    content = {"choices": [choice], "usage": usage_of(answer).model_dump(), "waypoint": extension_of(answer)}
    return JSONResponse(_head(body.model, "chat.completion") | content)


async def _responded(request: Request, body: responses.ResponseBody, chain: Runnable[Question, Answer]) -> Response:
    question, config = question_of(body.messages), _config(request, body.model)
    if body.stream:
        parts = await _opened(chain.astream(question, config))
        return EventStream(responses.events(request, parts, body.model))
    return JSONResponse(responses.response_of(await chain.ainvoke(question, config), body.model))


def _config(request: Request, model: str) -> RunnableConfig:
    return run_config(request, model_id=model) | {"run_id": uuid4()}


def _refuse_unserved(body: CompletionBody) -> None:
    if body.response_format and body.response_format.type != "text":
        msg = "response_format is not supported: answers are text with citations; leave it out and read the annotations"
        raise RequestRefusedError(400, msg, param="response_format")
    if body.tools:
        msg = "tools are not supported: this model answers from documents; leave them out"
        raise RequestRefusedError(400, msg, param="tools")


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
    return _resumed(first, parts)


async def _resumed(first: Sequence[Any], rest: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async with aclosing(cast("AsyncGenerator[Any]", rest)):
        for part in first:
            yield part
        async for part in rest:
            yield part


async def _events(
    request: Request, parts: AsyncIterator[Any], head: dict[str, Any], *, usage: bool
) -> AsyncIterator[str]:
    """Yield the chunks; a stream cannot take words back, so corrections come at the end."""
    seen: list[Any] = []
    try:
        yield _chunk(head, {"role": "assistant", "content": ""})
        async with aclosing(cast("AsyncGenerator[Any]", parts)):
            async for part in parts:
                seen.append(part)
                if words := part.get("answer"):
                    yield _chunk(head, {"content": words})
        for event in _ending(head, seen, usage=usage):
            yield event
        yield "data: [DONE]\n\n"
    except Exception as error:  # The status has been sent: the error can only be the last event.
        yield f"data: {json.dumps(openai_error(logged_reply(request, error)))}\n\n"


def _ending(head: dict[str, Any], seen: Sequence[Any], *, usage: bool) -> list[str]:
    answer = merge(seen)
    replaced = any("replacement" in part for part in seen)
    last: dict[str, Any] = {"content": below(answer, replaced=replaced)}
    if not replaced:  # Otherwise the offsets would not match.
        last |= {"annotations": annotations_of(answer["citations"])}
    extended = head | {"waypoint": extension_of(answer)}
    events = [_chunk(head, last), _chunk(extended, {}, finish_reason_of(answer))]
    if usage:
        events.append(_event(head | {"choices": [], "usage": usage_of(answer).model_dump()}))
    return events


def _chunk(head: dict[str, Any], delta: dict[str, Any], finish_reason: str | None = None) -> str:
    return _event(head | {"choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}]})


def _event(value: dict[str, Any]) -> str:
    return f"data: {json.dumps(value)}\n\n"


def _head(model: str, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{uuid4().hex}", "object": kind, "created": int(time.time()), "model": model}
