"""The middleware of the application, in one list, outermost first."""

from fastapi.middleware import Middleware
from fastapi.middleware.cors import CORSMiddleware
from limits import parse

from app.http.middleware.gate import Exchange, Gate
from app.http.middleware.limits import InFlight, Places, RateLimit
from app.wiring import Service

# How many questions are answered at once, and how long another waits for its turn.
QUESTIONS_AT_ONCE, QUEUE_S = 100, 10


def middleware(services: Service, in_flight: InFlight) -> list[Middleware]:
    settings, access = services.settings, services.access
    origins = [origin.strip() for origin in settings.web.cors_origins.split(",") if origin.strip()]
    cors = Middleware(
        CORSMiddleware,
        allow_origins=origins,
        allow_methods=["GET", "POST"],
        allow_headers=["*"],
        expose_headers=["Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"],
    )
    gate = Middleware(
        Gate,
        in_flight=in_flight,
        origins=None if settings.open_to_others else origins,
        access=access,
        rate=RateLimit(parse(settings.rate), access.rate_storage) if settings.rate else None,
        places=Places(at_once=QUESTIONS_AT_ONCE, queue_s=QUEUE_S),
    )
    return [Middleware(Exchange, metrics=services.metrics), *([cors] if origins else []), gate]
