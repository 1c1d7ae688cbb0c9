"""POST /v1/chat/completions and /v1/responses, GET /v1/models: OpenAI's contracts, for any chat front end."""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any, Literal, cast
from uuid import uuid4

from fastapi import APIRouter, Request
from fastapi import Response as HttpResponse
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from app.http.errors import RequestRefusedError
from app.http.events import EventStream
from app.http.openapi import ANSWER, ok_response
from app.http.policy import KILOBYTE, Policy
from app.http.questions import run_config
from app.wings.openai.messages import CompletionBody, ResponseBody, question_of
from app.wings.openai.replies import Completion, Response, events
from app.wiring import Service

OFFLINE = "offline"


class CompletionObject(BaseModel):
    """OpenAI's chat completion; `waypoint` adds outcome, confidence and trace id."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[Any]
    usage: dict[str, int]
    waypoint: dict[str, Any]


class ResponseObject(BaseModel):
    """OpenAI's response; `waypoint` adds outcome, confidence and trace id."""

    id: str
    object: Literal["response"]
    created_at: int
    status: Literal["completed", "incomplete", "in_progress"]
    model: str
    output: list[Any]
    usage: dict[str, Any] | None
    waypoint: dict[str, Any] | None = None


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
    names = (OFFLINE,) if services.settings.provider == OFFLINE else services.settings.llm.models
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
        response_model=CompletionObject,
        responses=ok_response(_COMPLETION, "The answer, or server-sent events of `chat.completion.chunk`"),
    )
    @conversation
    async def chat_completions(request: Request, body: CompletionBody) -> HttpResponse:
        """Answer the last message, whole or as a stream."""
        usage = bool(body.stream_options and body.stream_options.include_usage)
        return await answered(request, body, Completion(body.model, usage=usage))

    responses = ok_response(_RESPONSE, "The answer, or server-sent events")

    @router.post("/responses", response_model=ResponseObject, responses=responses)
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
