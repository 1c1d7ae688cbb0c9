"""Services -> the HTTP application: the contracts side by side over one chain, and their description at /docs."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI, Request, Response
from fastapi.middleware.cors import CORSMiddleware
from fastapi_offline import FastAPIOffline

from app.api import chat, copilot, health, playground, query
from app.api.errors import add_error_handlers, explain, problem_response
from app.api.openapi import TAGS, describe
from app.problems import Problem
from app.wiring import Services


def create_app(services: Services) -> FastAPI:
    """Return the application over `services`; nothing is opened before."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with services.running():
            yield

    app = FastAPIOffline(
        title="Waypoint Co-Pilot",
        description="Cited answers from a company's own documents.",
        openapi_tags=TAGS,
        version=version("waypoint-copilot"),
        lifespan=lifespan,
    )
    app.state.services = services
    app.state.started = time.monotonic()
    app.include_router(query.router)
    app.include_router(chat.chat_router(services.settings.allowed_models))
    app.include_router(health.router)
    _add_langserve(app, services)
    add_error_handlers(app)
    app.middleware("http")(_guard)
    if origins := [origin.strip() for origin in services.settings.cors_origins.split(",") if origin.strip()]:
        app.add_middleware(CORSMiddleware, allow_origins=origins, allow_methods=["GET", "POST"], allow_headers=["*"])
    describe(app)
    return app


def _add_langserve(app: FastAPI, services: Services) -> None:
    settings = services.settings
    question = copilot.question_model(top_k=settings.retrieval_top_k, threshold=settings.relevance_threshold)
    handler = copilot.handler_of(services.chain, question)
    app.include_router(copilot.copilot_router(services.chain, handler, question))
    app.include_router(playground.playground_router(services.chain, handler, question))


async def _guard(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    """Refuse a large body before it is parsed, and translate errors that routes raise."""
    if request.url.path == "/api/query" and len(await request.body()) > query.MAX_BODY_BYTES:
        too_large = "The request is larger than 10 kB; shorten it"
        return problem_response(Problem(413, "Payload Too Large", too_large))
    try:
        return await call_next(request)
    except Exception as error:  # The last place where an error can still become an answer.
        return await explain(request, error)
