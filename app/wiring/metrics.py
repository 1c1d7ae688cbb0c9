"""Build the metrics: what the parts of the service count themselves is read when Prometheus scrapes."""

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
    """Return the metrics of GET /metrics; `models` may grow."""
    from app.observability.metrics import Metrics

    metrics = Metrics(shared=settings.prometheus_multiproc_dir)
    metrics.counts(
        "waypoint_traces_dropped", "Traces that the backend did not take", ("backend",), lambda: _by_backend(tracing)
    )
    _add_providers(metrics, models)
    for event in EVENTS:
        read = partial(_by_level, caches, event)
        metrics.counts(
            f"waypoint_cache_{event}",
            f"Cache {event}",
            ("level",),
            read,
        )
    if outbox is not None:
        _add_events(metrics, outbox)
    return metrics


def _add_providers(metrics: "Metrics", models: Mapping[str, BaseChatModel]) -> None:
    metrics.gauges(
        "waypoint_breaker_open",
        "Whether the circuit breaker of a provider is open: 0 closed, 1 open, 0.5 half open",
        PROVIDER,
        lambda: _by_provider(models, lambda provider: BREAKER_STATES[provider.breaker.state]),
    )
    metrics.gauges(
        "waypoint_llm_waiting",
        "Requests that wait because of LLM_RPM or LLM_TPM",
        PROVIDER,
        lambda: _by_provider(models, lambda provider: provider.limiter.waiting),
    )
    metrics.counts(
        "waypoint_llm_retries",
        "Calls that repeat a failed one",
        PROVIDER,
        lambda: _by_provider(models, lambda provider: provider.retries.count),
    )


def _add_events(metrics: "Metrics", outbox: "Outbox") -> None:
    metrics.gauge("waypoint_events_waiting", "Events that the broker has not confirmed yet", lambda: outbox.waiting)
    metrics.counts(
        "waypoint_events",
        "Events by result",
        ("result",),
        lambda: {("sent",): outbox.sent, ("dropped",): outbox.dropped},
    )


def _by_provider(models: Mapping[str, BaseChatModel], read: Callable[[Provider], float]) -> Mapping["Labels", float]:
    return {(model, provider.breaker.name): read(provider) for model, provider in providers_of(models)}


def _by_backend(tracing: Tracing) -> Mapping["Labels", float]:
    return {(backend,): dropped for backend, dropped in tracing.dropped().items()}


def _by_level(caches: CacheStats, event: Event) -> Mapping["Labels", float]:
    return {(level,): caches.of(level, event) for level in LEVELS}
