"""The parts of a service -> its metrics: what they count themselves is read from them when it is asked for."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from langchain_core.language_models import BaseChatModel

from app.settings import Settings
from app.wiring.tracing import Tracing
from chains.caching.counts import EVENTS, LEVELS, CacheCounts, Event
from chains.generation.provider import Provider
from chains.generation.resilient import ResilientChatModel

if TYPE_CHECKING:
    from app.adapters.rabbitmq.outbox import Outbox
    from app.metrics import Metrics

BREAKER_STATES = {"closed": 0.0, "half-open": 0.5, "open": 1.0}


def metrics_of(
    settings: Settings,
    *,
    tracing: Tracing,
    caches: CacheCounts,
    outbox: "Outbox | None",
    model: Callable[[], BaseChatModel],
) -> "Metrics":
    """Return the figures that GET /metrics tells; `model` is asked for when they are."""
    from app.metrics import Metrics

    metrics = Metrics(shared=settings.prometheus_multiproc_dir)
    metrics.counts("waypoint_traces_dropped", "Traces that did not arrive.", "backend", tracing.dropped)
    _tell_providers(metrics, model)
    for event in EVENTS:
        read = partial(_by_level, caches, event)
        metrics.counts(f"waypoint_cache_{event}", f"Of what was looked for in a cache: {event}.", "level", read)
    if outbox is not None:
        _tell_events(metrics, outbox)
    return metrics


def _tell_providers(metrics: "Metrics", model: Callable[[], BaseChatModel]) -> None:
    metrics.gauges(
        "waypoint_breaker_open",
        "Whether a provider is left alone: 0 no, 1 yes, 0.5 on trial.",
        "provider",
        lambda: {one.breaker.name: BREAKER_STATES[one.breaker.state] for one in providers(model())},
    )
    metrics.gauges(
        "waypoint_llm_waiting",
        "Requests that wait for their turn within LLM_RPM and LLM_TPM.",
        "provider",
        lambda: {one.breaker.name: one.budget.waiting for one in providers(model())},
    )


def _tell_events(metrics: "Metrics", outbox: "Outbox") -> None:
    metrics.gauge("waypoint_events_waiting", "Events that wait for the broker.", lambda: outbox.waiting)
    metrics.counts(
        "waypoint_events",
        "Events, by what came of them.",
        "result",
        lambda: {"sent": outbox.sent, "dropped": outbox.dropped},
    )


def _by_level(caches: CacheCounts, event: Event) -> Mapping[str, float]:
    return {level: caches.of(level, event) for level in LEVELS}


def providers(model: BaseChatModel) -> Sequence[Provider]:
    """Return the providers of a model, where it has any."""
    return model.providers if isinstance(model, ResilientChatModel) else ()
