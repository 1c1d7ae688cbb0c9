"""LangServe at /copilot: the chain as a remote Runnable, typed.

LangServe's models, schemas and clients, on routes of FastAPI: so each call of a batch or a stream has the config of its
request, a client that leaves ends the chain, and an error in a stream says what happened and what to do.
"""

import json
from collections.abc import Callable
from types import GenericAlias
from typing import Any, cast
from uuid import uuid4

from fastapi import APIRouter, Request, Response
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import merge_configs
from langserve import APIHandler
from langserve.validation import (
    create_batch_request_model,
    create_batch_response_model,
    create_invoke_request_model,
    create_invoke_response_model,
    create_stream_events_request_model,
    create_stream_request_model,
)
from pydantic import BaseModel, Field, create_model

from app.http.errors import documented
from app.http.events import Event, EventStream, events_of
from app.http.examples import BATCHED, INVOKED, answered_with
from app.http.routes.history import History
from app.http.routes.options import Threshold, TopK
from app.http.run_config import config_of
from chains.state import QUESTION_MAX_CHARACTERS, QUESTION_PATTERN, Answer, Question

PATH = "/copilot"
NAMESPACE = "copilot"

Chain = Runnable[Question, Answer]

_ERRORS = documented(400, 401, 403, 408, 413, 422, 429, 500, 502, 503, 504)
_STREAM: dict[str, Any] = {
    "description": "Events: metadata, data (many), then end; or error, with {status_code, error, message} as its data.",
    "content": {
        "text/event-stream": {
            "schema": {
                "type": "object",
                "properties": {
                    "event": {"enum": ["metadata", "data", "end", "error"]},
                    "data": {"type": "string", "contentMediaType": "application/json"},
                },
                "required": ["event"],
            },
            "example": 'event: data\r\ndata: {"answer": "It is "}\r\n\r\nevent: end\r\n\r\n',
        }
    },
}


class NoConfig(BaseModel):
    """The part of a request's config that is heeded: nothing."""


def question_model(*, top_k: int, threshold: float) -> type[BaseModel]:
    """Return the input: a question, and options with the settings' own defaults (none may be optional)."""
    return create_model(
        "Question",
        question=(str, Field(min_length=1, max_length=QUESTION_MAX_CHARACTERS, pattern=QUESTION_PATTERN)),
        history=History,
        top_k=(TopK, top_k),
        threshold=(Threshold, threshold),
    )


def handler_of(chain: Chain, question: type[BaseModel]) -> APIHandler:
    """Return LangServe's handler, whose models and schemas are those of the chain; a client configures nothing."""
    return APIHandler(chain.with_types(input_type=cast("Any", question)), path=PATH, config_keys=())


def copilot_router(chain: Chain, handler: APIHandler, question: type[BaseModel], *, batch_max: int) -> APIRouter:
    """Return the routes of the chain; a batch holds at most `batch_max` questions.

    The models are made here and not taken from the handler, which alters a model that is the second of its name in the
    process.
    """
    router = APIRouter(prefix=PATH, tags=["LangServe"])
    _add_answers(router, chain, question, batch_max)
    _add_streams(router, chain, question)
    _add_schemas(router, handler)
    return router


def _add_answers(router: APIRouter, chain: Chain, question: type[BaseModel], batch_max: int) -> None:
    async def invoke(request: Request, body: Any) -> Any:
        """Return the answer to one question."""
        config = call_config(request)
        return {"output": await chain.ainvoke(question_of(body.input), config), "metadata": _metadata(config)}

    async def batch(request: Request, body: Any) -> Any:
        """Return the answers to several questions, in their order."""
        configs = [call_config(request) for _ in body.inputs]
        outputs = await chain.abatch([question_of(question) for question in body.inputs], configs)
        responses = [_metadata(config) for config in configs]
        return {
            "output": outputs,
            "metadata": {"responses": responses, "run_ids": [run["run_id"] for run in responses]},
        }

    add_route(
        router,
        invoke,
        create_invoke_request_model(NAMESPACE, question, NoConfig),
        response_model=create_invoke_response_model(NAMESPACE, Answer, False),
        responses=_ERRORS | answered_with(INVOKED),
    )
    add_route(
        router,
        batch,
        _batch_body(question, batch_max),
        response_model=create_batch_response_model(NAMESPACE, Answer, False),
        responses=_ERRORS | answered_with(BATCHED, "The answers"),
    )


def _add_streams(router: APIRouter, chain: Chain, question: type[BaseModel]) -> None:
    async def stream(request: Request, body: Any) -> Response:
        """Send the fields of the answer as they come, the words of the answer in pieces."""
        config = call_config(request)
        run: Event = {"event": "metadata", "data": json.dumps({"run_id": str(config["run_id"])})}
        parts = chain.astream(question_of(body.input), config)
        return EventStream(events_of(request, parts, first=[run]))

    async def stream_events(request: Request, body: Any) -> Response:
        """Send what happens in the chain, as `astream_events` in its version 2 tells it."""
        chosen = body.model_dump(exclude={"input", "config", "kwargs"})
        parts = chain.astream_events(question_of(body.input), call_config(request), version="v2", **chosen)
        return EventStream(events_of(request, parts))

    told = _ERRORS | {200: _STREAM}
    events_body = create_stream_events_request_model(NAMESPACE, question, NoConfig)
    add_route(router, stream, stream_body(question), response_class=Response, responses=told)
    add_route(router, stream_events, events_body, response_class=Response, responses=told)


def _add_schemas(router: APIRouter, handler: APIHandler) -> None:
    async def input_schema(request: Request) -> dict[str, Any]:
        """Return the JSON schema of a question."""
        return cast("dict[str, Any]", await handler.input_schema(request))

    async def output_schema(request: Request) -> dict[str, Any]:
        """Return the JSON schema of an answer."""
        return cast("dict[str, Any]", await handler.output_schema(request))

    described = documented(401, 403, 429) | answered_with({"type": "object", "properties": {}}, "JSON schema")
    for endpoint in (input_schema, output_schema):
        router.add_api_route(f"/{endpoint.__name__}", endpoint, methods=["GET"], responses=described)


def _batch_body(question: type[BaseModel], batch_max: int) -> type[BaseModel]:
    base = create_batch_request_model(NAMESPACE, question, NoConfig)
    questions: Any = GenericAlias(list, question)
    return create_model(base.__name__, __base__=base, inputs=(questions, Field(max_length=batch_max)))


def stream_body(question: type[BaseModel]) -> type[BaseModel]:
    """Return the body of a request for a stream."""
    return create_stream_request_model(NAMESPACE, question, NoConfig)


def add_route(router: APIRouter, endpoint: Callable[..., Any], body: type[BaseModel], **options: Any) -> None:
    """Add a POST route under the endpoint's name, whose `body` is a model that LangServe made of the chain."""
    endpoint.__annotations__["body"] = body
    options = {"responses": _ERRORS, "path": f"/{endpoint.__name__}"} | options
    router.add_api_route(endpoint=endpoint, methods=["POST"], **options)


def question_of(question: BaseModel) -> Question:
    """Return what the chain is asked, from the body's input."""
    return cast("Question", question.model_dump())


def call_config(request: Request) -> RunnableConfig:
    """Return the config of one question of the request, under a run of its own."""
    return merge_configs(config_of(request), {"run_id": uuid4()})


def _metadata(config: RunnableConfig) -> dict[str, Any]:
    return {"run_id": config["run_id"], "feedback_tokens": []}
