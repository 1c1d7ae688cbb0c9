"""Services -> the HTTP application: the contracts side by side over one chain, and their description at /docs."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from fastapi_offline import FastAPIOffline

from app.http.errors import add_error_handlers, explain
from app.http.middleware import guards
from app.http.middleware.drain import Gate, Traffic
from app.http.middleware.request_ids import RequestIds
from app.http.middleware.request_metrics import RequestMetrics
from app.http.openapi import TAGS, describe
from app.http.readiness import Readiness
from app.http.routes import chat, copilot, feedback, health, metrics, pages, playground, query
from app.wiring import Services


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

    app = FastAPIOffline(
        docs_url=None,
        redoc_url=None,
        title="Waypoint Co-Pilot",
        description="Cited answers from a company's own documents.",
        openapi_tags=TAGS,
        version=version("waypoint-copilot"),
        lifespan=lifespan,
        middleware=guards(services, explain=explain),
    )
    app.state.services = services
    app.state.started = time.monotonic()
    app.state.traffic = traffic
    app.state.readiness = Readiness(services.checks, traffic, clock=services.clock.now)
    _add_routes(app, services)
    add_error_handlers(app)
    app.add_middleware(Gate, traffic=traffic)
    app.add_middleware(RequestMetrics, metrics=services.metrics)
    app.add_middleware(RequestIds)  # The outermost: all that is logged of a request has its id.
    describe(app, services.settings.auth_mode)
    return app


def _add_routes(app: FastAPI, services: Services) -> None:
    settings = services.settings
    for router in (query.router, chat.chat_router(settings.allowed_models), feedback.router):
        app.include_router(router)
    question = copilot.question_model(top_k=settings.retrieval_top_k, threshold=settings.relevance_threshold)
    handler = copilot.handler_of(services.chain, question)
    app.include_router(copilot.copilot_router(services.chain, handler, question, batch_max=settings.batch_max))
    app.include_router(playground.playground_router(services.chain, handler, question))
    app.include_router(health.router)
    app.include_router(metrics.router)
    app.include_router(pages.router)
