"""Services -> the HTTP application: the Waypoint routes, and LangServe at /copilot. The only import of langserve."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any, Literal, cast, get_args

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse
from langchain_core.runnables import Runnable
from langserve import add_routes
from pydantic import BaseModel, Field, create_model
from starlette.exceptions import HTTPException

from app.api import feedback, health, metrics, query
from app.problems import problem_of
from app.request_ids import RequestIds
from app.request_metrics import RequestMetrics
from app.settings import Settings
from app.wiring import Services
from chains.state import QUESTION_MAX_CHARACTERS

EndpointName = Literal["invoke", "batch", "stream", "stream_events", "input_schema", "output_schema", "playground"]

log = structlog.get_logger(__name__)

LANGSERVE_ENDPOINTS: tuple[EndpointName, ...] = get_args(EndpointName)


def create_app(services: Services) -> FastAPI:
    """Return the application over `services`; nothing is opened before."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with services.running():
            yield

    app = FastAPI(
        title="Waypoint Co-Pilot",
        description="Cited answers from a company's own documents.",
        version=version("waypoint-copilot"),
        lifespan=lifespan,
    )
    app.state.services = services
    app.state.started = time.monotonic()
    app.include_router(query.router)
    app.include_router(feedback.router)
    app.include_router(health.router)
    app.include_router(metrics.router)
    app.add_exception_handler(Exception, _explain)
    app.add_exception_handler(HTTPException, _explain_status)
    app.middleware("http")(_guard)
    if origins := [origin.strip() for origin in services.settings.cors_origins.split(",") if origin.strip()]:
        app.add_middleware(CORSMiddleware, allow_origins=origins, allow_methods=["GET", "POST"], allow_headers=["*"])
    _add_langserve(app, services)
    app.add_middleware(RequestMetrics, metrics=services.metrics)
    app.add_middleware(RequestIds)  # The outermost: all that is logged of a request has its id.
    return app


def _add_langserve(app: FastAPI, services: Services) -> None:
    # LangServe reads the schema from the model and hands the chain a plain dict.
    typed: Runnable[Any, Any] = services.chain.with_types(input_type=cast("Any", question_model(services.settings)))
    add_routes(
        app,
        typed,
        path="/copilot",
        config_keys=(),  # The default lets a client set whatever is configurable.
        enabled_endpoints=LANGSERVE_ENDPOINTS,
    )


def question_model(settings: Settings) -> type[BaseModel]:
    """Return LangServe's input: a question, and options with the settings' own defaults (none may be optional)."""
    return create_model(
        "Question",
        question=(str, Field(min_length=1, max_length=QUESTION_MAX_CHARACTERS, pattern=r"\S")),
        history=(list[dict[str, Any]], Field(default_factory=list, max_length=50)),
        top_k=(int, Field(settings.retrieval_top_k, ge=1, le=100)),
        threshold=(float, Field(settings.relevance_threshold, ge=0, le=1)),
    )


async def _guard(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    """Refuse a large body before it is parsed, and translate errors that routes raise."""
    if request.url.path == "/api/query" and len(await request.body()) > query.MAX_BODY_BYTES:
        return _problem(413, "Payload Too Large", "The request is larger than 10 kB; shorten it")
    try:
        return await call_next(request)
    except Exception as error:  # The last place where an error can still become an answer.
        return await _explain(request, error)


async def _explain(request: Request, error: Exception) -> JSONResponse:
    problem = problem_of(error)
    log.warning("request_failed", path=request.url.path, status=problem.status, error=type(error).__name__)
    return _problem(problem.status, problem.error, problem.message)


async def _explain_status(request: Request, error: Exception) -> JSONResponse:
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = error.detail if isinstance(error, HTTPException) else "Internal Server Error"
    return _problem(status, str(detail), f"{request.method} {request.url.path}: {detail}")


def _problem(status: int, error: str, message: str) -> JSONResponse:
    return JSONResponse({"error": error, "message": message}, status_code=status)
