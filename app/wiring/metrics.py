"""The parts of a service -> its metrics: what they count themselves is read from them when it is asked for."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from langchain_core.language_models import BaseChatModel

from app.settings import Settings
from app.wiring.llm import providers_of
from app.wiring.tracing import Tracing
from chains.caching.stats import EVENTS, LEVELS, CacheStats, Event
from chains.generation.provider import Provider

if TYPE_CHECKING:
    from app.adapters.events.outbox import Outbox
    from app.observability.metrics import Labels, Metrics

PROVIDER = ("model", "provider")
BREAKER_STATES = {"closed": 0.0, "half-open": 0.5, "open": 1.0}


def metrics_of(
    settings: Settings,
    *,
    tracing: Tracing,
    caches: CacheStats,
    outbox: "Outbox | None",
    models: Mapping[str, BaseChatModel],
) -> "Metrics":
    """Return the figures that GET /metrics tells; `models` may grow, and are read when the figures are."""
    from app.observability.metrics import Metrics

    metrics = Metrics(shared=settings.prometheus_multiproc_dir)
    metrics.counts("waypoint_traces_dropped", "Traces that did not arrive.", ("backend",), lambda: _by_backend(tracing))
    _tell_providers(metrics, models)
    for event in EVENTS:
        read = partial(_by_level, caches, event)
        metrics.counts(f"waypoint_cache_{event}", f"Of what was looked for in a cache: {event}.", ("level",), read)
    if outbox is not None:
        _tell_events(metrics, outbox)
    return metrics


def _tell_providers(metrics: "Metrics", models: Mapping[str, BaseChatModel]) -> None:
    metrics.gauges(
        "waypoint_breaker_open",
        "Whether a provider is left alone: 0 no, 1 yes, 0.5 on trial.",
        PROVIDER,
        lambda: _by_provider(models, lambda provider: BREAKER_STATES[provider.breaker.state]),
    )
    metrics.gauges(
        "waypoint_llm_waiting",
        "Requests that wait for their turn within LLM_RPM and LLM_TPM.",
        PROVIDER,
        lambda: _by_provider(models, lambda provider: provider.limiter.waiting),
    )
    metrics.counts(
        "waypoint_llm_retries",
        "Calls of a provider that repeat one that failed.",
        PROVIDER,
        lambda: _by_provider(models, lambda provider: provider.retries.count),
    )


def _tell_events(metrics: "Metrics", outbox: "Outbox") -> None:
    metrics.gauge("waypoint_events_waiting", "Events that wait for the broker.", lambda: outbox.waiting)
    metrics.counts(
        "waypoint_events",
        "Events, by what came of them.",
        ("result",),
        lambda: {("sent",): outbox.sent, ("dropped",): outbox.dropped},
    )


def _by_provider(models: Mapping[str, BaseChatModel], read: Callable[[Provider], float]) -> Mapping["Labels", float]:
    return {(model, provider.breaker.name): read(provider) for model, provider in providers_of(models)}


def _by_backend(tracing: Tracing) -> Mapping["Labels", float]:
    return {(backend,): dropped for backend, dropped in tracing.dropped().items()}


def _by_level(caches: CacheStats, event: Event) -> Mapping["Labels", float]:
    return {(level,): caches.of(level, event) for level in LEVELS}
