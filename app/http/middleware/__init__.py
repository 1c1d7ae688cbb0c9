"""The middleware of the application, in one list, outermost first."""

from fastapi.middleware import Middleware
from fastapi.middleware.cors import CORSMiddleware
from limits import parse

from app.http.errors import ErrorMiddleware
from app.http.middleware.authentication import Authentication
from app.http.middleware.body_limit import MEGABYTE, BatchLimit, BodyLimit
from app.http.middleware.browser_security import OriginCheck, PathCheck, SecurityHeaders
from app.http.middleware.concurrency import CancelOnDisconnect, ConcurrencyLimit, DrainMiddleware, InFlight
from app.http.middleware.rate_limit import RateLimit
from app.http.middleware.tracking import RequestIds, RequestMetrics
from app.wiring import Services

# Questions of a batch; how long a client may take to send a body; how long a question waits for its turn.
BATCH_MAX = 10
BODY_TIMEOUT_S = 10
QUEUE_S = 10


def middleware(services: Services, in_flight: InFlight) -> list[Middleware]:
    """Return the middleware of the application, outermost first."""
    settings, access = services.settings, services.access
    origins = [origin.strip() for origin in settings.web.cors_origins.split(",") if origin.strip()]
    rate = [Middleware(RateLimit, rate=parse(settings.rate), storage=access.rate_storage)] if settings.rate else []
    return [
        Middleware(RequestIds),  # First, so that every log line of a request has its id.
        Middleware(RequestMetrics, metrics=services.metrics),
        Middleware(SecurityHeaders),
        *([_cors(origins)] if origins else []),
        Middleware(ErrorMiddleware),
        Middleware(DrainMiddleware, in_flight=in_flight),
        *([] if settings.open_to_others else [Middleware(OriginCheck, allowed=origins)]),
        Middleware(Authentication, authenticator=access.authenticator, anonymous=access.anonymous),
        Middleware(PathCheck),
        Middleware(BodyLimit, timeout_s=BODY_TIMEOUT_S, streamed_bytes=settings.uploads.max_mb * MEGABYTE),
        Middleware(BatchLimit, batch_max=BATCH_MAX),
        *rate,
        Middleware(CancelOnDisconnect),
        Middleware(ConcurrencyLimit, at_once=settings.limits.questions_at_once, queue_s=QUEUE_S),
    ]


def _cors(origins: list[str]) -> Middleware:
    return Middleware(
        CORSMiddleware,
        allow_origins=origins,
        allow_methods=["GET", "POST"],
        allow_headers=["*"],
        expose_headers=["Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"],
    )
