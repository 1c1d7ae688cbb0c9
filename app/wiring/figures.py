"""The parts of a service -> its metrics: what they count themselves is read from them when it is asked for."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from langchain_core.language_models import BaseChatModel

from app.settings import Settings
from app.wiring.tracing import Tracing
from chains.caching.counts import EVENTS, LEVELS, CacheCounts, Event
from chains.generation.breaker import Breaker
from chains.generation.resilient import ResilientChatModel

if TYPE_CHECKING:
    from app.metrics import Metrics

BREAKER_STATES = {"closed": 0.0, "half-open": 0.5, "open": 1.0}


def metrics_of(
    settings: Settings, *, tracing: Tracing, caches: CacheCounts, model: Callable[[], BaseChatModel]
) -> "Metrics":
    """Return the figures that GET /metrics tells; `model` is asked for when they are."""
    from app.metrics import Metrics

    metrics = Metrics(shared=settings.prometheus_multiproc_dir)
    metrics.counts("waypoint_traces_dropped", "Traces that did not arrive.", "backend", tracing.dropped)
    metrics.gauges(
        "waypoint_breaker_open",
        "Whether a provider is left alone: 0 no, 1 yes, 0.5 on trial.",
        "provider",
        lambda: _states(breakers(model())),
    )
    for event in EVENTS:
        metrics.counts(f"waypoint_cache_{event}", f"{event.capitalize()} of a cache.", "level", _counted(caches, event))
    return metrics


def _counted(caches: CacheCounts, event: Event) -> Callable[[], Mapping[str, float]]:
    return lambda: {level: caches.of(level, event) for level in LEVELS}


def breakers(model: BaseChatModel) -> Iterable[Breaker]:
    """Return the breakers of a model's providers, where it has any."""
    return [provider.breaker for provider in model.providers] if isinstance(model, ResilientChatModel) else []


def _states(found: Iterable[Breaker]) -> Mapping[str, float]:
    return {breaker.name: BREAKER_STATES[breaker.state] for breaker in found}
