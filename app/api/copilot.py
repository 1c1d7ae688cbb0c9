"""LangServe at /copilot: the chain as a remote Runnable, typed. With app/api/playground.py the only use of langserve.

LangServe's models, schemas and clients, on routes of FastAPI: so each call of a batch or a stream has the config of its
request, a client that leaves ends the chain, and an error in a stream says what happened and what to do.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Any, cast
from uuid import uuid4

from fastapi import APIRouter, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import merge_configs
from langserve import APIHandler
from langserve.serialization import WellKnownLCSerializer
from pydantic import BaseModel, Field, create_model

from app.api.errors import documented, observed_problem
from app.api.history import History
from app.call import config_of
from chains.state import QUESTION_MAX_CHARACTERS, Answer, Question

PATH = "/copilot"

Chain = Runnable[Question, Answer]
_ERRORS = documented(401, 403, 408, 413, 422, 429, 500, 502, 503, 504)
_serializer = WellKnownLCSerializer()


def question_model(*, top_k: int, threshold: float) -> type[BaseModel]:
    """Return the input: a question, and options with the settings' own defaults (none may be optional)."""
    return create_model(
        "Question",
        question=(str, Field(min_length=1, max_length=QUESTION_MAX_CHARACTERS, pattern=r"\S")),
        history=History,
        top_k=(int, Field(top_k, ge=1, le=100)),
        threshold=(float, Field(threshold, ge=0, le=1)),
    )


def handler_of(chain: Chain, question: type[BaseModel]) -> APIHandler:
    """Return LangServe's handler, whose models and schemas are those of the chain; a client configures nothing."""
    return APIHandler(chain.with_types(input_type=cast("Any", question)), path=PATH, config_keys=())


def copilot_router(chain: Chain, handler: APIHandler) -> APIRouter:
    """Return the routes of the chain."""
    router = APIRouter(prefix=PATH, tags=["LangServe"])

    def add(name: str, body: type[BaseModel], endpoint: Callable[..., Any], **options: Any) -> None:
        endpoint.__annotations__["body"] = body  # LangServe makes the models when it knows the chain.
        router.add_api_route(f"/{name}", endpoint, methods=["POST"], responses=_ERRORS, **options)

    async def invoke(request: Request, body: Any) -> Any:
        """Return the answer to one question."""
        config = call_config(request)
        return {"output": await chain.ainvoke(question_of(body.input), config), "metadata": _metadata(config)}

    async def batch(request: Request, body: Any) -> Any:
        """Return the answers to several questions, in their order."""
        configs = [call_config(request) for _ in body.inputs]
        outputs = await chain.abatch([question_of(question) for question in body.inputs], configs)
        run_ids = [config["run_id"] for config in configs]
        responses = [_metadata(config) for config in configs]
        return {"output": outputs, "metadata": {"responses": responses, "run_ids": run_ids}}

    async def stream(request: Request, body: Any) -> AsyncIterator[ServerSentEvent]:
        """Send the fields of the answer as they come, the words of the answer in pieces."""
        config = call_config(request)
        yield ServerSentEvent(event="metadata", data={"run_id": str(config["run_id"])})
        async for event in events_of(request, chain.astream(question_of(body.input), config)):
            yield event

    async def stream_events(request: Request, body: Any) -> AsyncIterator[ServerSentEvent]:
        """Send what happens in the chain, as `astream_events` in its version 2 tells it."""
        chosen = body.model_dump(exclude={"input", "config", "kwargs"})
        parts = chain.astream_events(question_of(body.input), call_config(request), version="v2", **chosen)
        async for event in events_of(request, parts):
            yield event

    add("invoke", handler.InvokeRequest, invoke, response_model=handler.InvokeResponse)
    add("batch", handler.BatchRequest, batch, response_model=handler.BatchResponse)
    add("stream", handler.StreamRequest, stream, response_class=EventSourceResponse)
    add("stream_events", handler.StreamEventsRequest, stream_events, response_class=EventSourceResponse)
    _add_schemas(router, handler)
    return router


def _add_schemas(router: APIRouter, handler: APIHandler) -> None:
    async def input_schema(request: Request) -> dict[str, Any]:
        """Return the JSON schema of a question."""
        return cast("dict[str, Any]", await handler.input_schema(request))

    async def output_schema(request: Request) -> dict[str, Any]:
        """Return the JSON schema of an answer."""
        return cast("dict[str, Any]", await handler.output_schema(request))

    for endpoint in (input_schema, output_schema):
        router.add_api_route(f"/{endpoint.__name__}", endpoint, methods=["GET"], responses=documented(401, 403, 429))


async def events_of(request: Request, parts: AsyncIterator[Any]) -> AsyncIterator[ServerSentEvent]:
    """Yield the parts as events, then the end, or the error with its status, what happened and what to do."""
    try:
        async with aclosing(cast("AsyncGenerator[Any]", parts)):
            async for part in parts:
                yield ServerSentEvent(event="data", raw_data=_serializer.dumps(part).decode())
        yield ServerSentEvent(event="end")
    except Exception as error:  # The status has been sent: the error can only be the last event.
        problem = observed_problem(request, error)
        told = {"status_code": problem.status, "error": problem.error, "message": problem.message}
        yield ServerSentEvent(event="error", data=told)


def question_of(question: BaseModel) -> Question:
    """Return what the chain is asked, from the body's input."""
    return cast("Question", question.model_dump())


def call_config(request: Request) -> RunnableConfig:
    """Return the config of one question of the request, under a run of its own."""
    return merge_configs(config_of(request), {"run_id": uuid4()})


def _metadata(config: RunnableConfig) -> dict[str, Any]:
    return {"run_id": config["run_id"], "feedback_tokens": []}
