"""Build the HTTP application: all contracts over one chain, documented at /docs."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi_offline import FastAPIOffline
from starlette.exceptions import HTTPException

from app import hooks
from app.http import openapi
from app.http.errors import RequestRefusedError, error_response
from app.http.middleware import middleware
from app.http.middleware.limits import InFlight
from app.http.routes import answers, copilot, documents, health, page
from app.wiring import Service


def create_app(services: Service) -> FastAPI:
    """Return the application over `services`; nothing is opened before it starts."""
    settings, in_flight = services.settings, InFlight()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with services.running():
            await asyncio.to_thread(services.warm_up)
            in_flight.phase = "ready"
            yield

    app = FastAPIOffline(
        docs_url=None,
        redoc_url=None,
        title="Waypoint Co-Pilot",
        description="Cited answers from a company's own documents.",
        openapi_tags=openapi.TAGS,
        version=version("waypoint-copilot"),
        lifespan=lifespan,
        middleware=middleware(services, in_flight),
    )
    app.state.services = services
    app.state.started = time.monotonic()
    app.state.in_flight = in_flight
    app.state.readiness = health.Readiness(services.checks, in_flight, clock=services.index.clock.now)
    for kind in (HTTPException, RequestValidationError, RequestRefusedError):  # The gate answers all other errors.
        app.add_exception_handler(kind, error_response)
    question = copilot.question_model(settings.retrieval.top_k, settings.retrieval.threshold)
    for router in (
        answers.waypoint_router,
        answers.chat_router(settings.llm.models),
        answers.search_router,
        copilot.copilot_router(services.chain, question),
        copilot.playground_router(services.chain, question),
        health.router,
        openapi.router,
        page.page_router(services),
        page.router,
        documents.router,
        *(make(services) for make in hooks.each("routes")),
    ):
        app.include_router(router)
    openapi.describe(app, settings.access.mode)
    return app
