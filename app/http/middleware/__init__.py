"""Services -> what a request passes on its way to a route: a plain list, outermost first."""

from collections.abc import Awaitable, Callable

from fastapi.middleware import Middleware
from fastapi.middleware.cors import CORSMiddleware
from limits import parse
from starlette.requests import Request
from starlette.responses import Response

from app.http.middleware.batch_limit import CountedQuestions
from app.http.middleware.body_limit import BoundedBody
from app.http.middleware.cancel_on_disconnect import StopsWhenLeft
from app.http.middleware.concurrency_limit import Turns
from app.http.middleware.error_responses import Explained
from app.http.middleware.origin_check import LocalPages
from app.http.middleware.paths import ReadablePaths
from app.http.middleware.rate_limit import Rated
from app.http.middleware.security_headers import SecurityHeaders
from app.http.security.authentication import Authentication
from app.wiring import Services


def guards(services: Services, *, explain: Callable[[Request, Exception], Awaitable[Response]]) -> list[Middleware]:
    """Return the middlewares; `explain` makes a response of what they and the routes raise."""
    settings, access = services.settings, services.access
    origins = [origin.strip() for origin in settings.cors_origins.split(",") if origin.strip()]
    rate = [Middleware(Rated, rate=parse(settings.rate), storage=access.rate_storage)] if settings.rate else []
    return [
        Middleware(SecurityHeaders),
        *([_cors(origins)] if origins else []),
        Middleware(Explained, explain=explain),
        *([] if settings.open_to_others else [Middleware(LocalPages, allowed=origins)]),
        Middleware(Authentication, callers=access.callers, anonymous=access.anonymous),
        Middleware(ReadablePaths),
        Middleware(BoundedBody, timeout_s=settings.body_timeout_s),
        Middleware(CountedQuestions, batch_max=settings.batch_max),
        *rate,
        Middleware(StopsWhenLeft),
        Middleware(Turns, at_once=settings.max_concurrent_questions, queue_s=settings.question_queue_s),
    ]


def _cors(origins: list[str]) -> Middleware:
    told = ["Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"]
    return Middleware(
        CORSMiddleware,
        allow_origins=origins,
        allow_methods=["GET", "POST"],
        allow_headers=["*"],
        expose_headers=told,
    )
