"""Services -> the HTTP application: the Waypoint routes, and LangServe at /copilot. The only import of langserve."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any, Literal, cast, get_args

import structlog
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from langchain_core.runnables import Runnable
from langserve import add_routes
from pydantic import BaseModel, Field, create_model
from starlette.exceptions import HTTPException

from app.api import feedback, health, metrics, query
from app.call import config_of
from app.drain import Gate, Traffic
from app.guards import guards
from app.problems import problem_of
from app.readiness import Readiness
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
    traffic = Traffic()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with services.running():
            if services.settings.warm_up:
                await asyncio.to_thread(services.warm_up)
            traffic.phase = "ready"
            yield

    app = FastAPI(
        title="Waypoint Co-Pilot",
        description="Cited answers from a company's own documents.",
        version=version("waypoint-copilot"),
        lifespan=lifespan,
        middleware=guards(services, explain=_explain),
    )
    app.state.services = services
    app.state.started = time.monotonic()
    app.state.traffic = traffic
    app.state.readiness = Readiness(services.checks(), traffic, clock=services.clock.now)
    app.include_router(query.router)
    app.include_router(feedback.router)
    app.include_router(health.router)
    app.include_router(metrics.router)
    app.add_exception_handler(Exception, _explain)
    app.add_exception_handler(HTTPException, _explain_status)
    app.add_middleware(Gate, traffic=traffic)
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
        # Whatever a client sends under these keys is overwritten; a batch would drop what is not among them.
        config_keys=("configurable", "metadata"),
        per_req_config_modifier=_config,
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


def _config(_: dict[str, Any], request: Request) -> dict[str, Any]:
    return {**config_of(request)}


async def _explain(request: Request, error: Exception) -> JSONResponse:
    problem = problem_of(error)
    log.warning("request_failed", path=request.url.path, status=problem.status, error=type(error).__name__)
    return _problem(problem.status, problem.error, problem.message, getattr(error, "headers", None))


async def _explain_status(request: Request, error: Exception) -> JSONResponse:
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = error.detail if isinstance(error, HTTPException) else "Internal Server Error"
    return _problem(status, str(detail), f"{request.method} {request.url.path}: {detail}")


def _problem(status: int, error: str, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": error, "message": message}, status_code=status, headers=headers)
