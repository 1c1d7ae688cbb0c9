"""Build the observability of the service: tracing, events, scores, metrics."""

import atexit
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig

from app.observability.tracing import SHUTDOWN_TIMEOUT_S, Export, close
from app.ports import Outbox
from app.settings import Settings
from app.wiring.llm import providers_of
from chains.around.observers import Observer
from chains.around.side_steps import counts
from chains.caching.typed_cache import EVENTS, LEVELS, CacheStats, Event
from chains.errors import ConfigurationError, VectorStoreError
from chains.generation.provider import Provider
from chains.logs import get_logger

if TYPE_CHECKING:
    from app.adapters.tracing.experiments import Experiments
    from app.adapters.tracing.langsmith import Score
    from app.observability.metrics import Labels, Metrics

SPANS_WAITING, SPANS_A_BATCH = 4096, 512
SCORES_WAITING = 1000
PROVIDER = ("model", "provider")
BREAKER_STATES = {"closed": 0.0, "half-open": 0.5, "open": 1.0}

log = get_logger(__name__)


@dataclass
class Tracing:
    """Tracers and observers for the chain, and the exports that send their traces and the users' scores."""

    exports: dict[str, Export[Any]] = field(default_factory=dict)
    factories: list[Callable[[RunnableConfig], RunnableConfig]] = field(default_factory=list)
    observers: list[Observer] = field(default_factory=list)
    connections: list[Callable[[], None]] = field(default_factory=list)
    probes: dict[str, Callable[[], None]] = field(default_factory=dict)
    scores: "Export[Score] | None" = None

    def dropped(self) -> dict[str, float]:
        """Return the number of lost traces (for OpenTelemetry: spans) or scores, by backend."""
        return {name: export.dropped for name, export in self.exports.items()}

    def close(self, *, within_s: float = SHUTDOWN_TIMEOUT_S) -> None:
        """Send what is queued, for at most `within_s`."""
        atexit.unregister(self.close)
        close(self.exports.values(), within_s=within_s)
        while self.connections:
            self.connections.pop()()


def tracing_of(settings: Settings) -> Tracing:
    """Return the tracing that the settings ask for; it is closed when the process ends, if not before."""
    tracing = Tracing()
    if settings.langsmith.tracing:
        _trace_to_langsmith(tracing, settings)
    if settings.logs.otlp_endpoint:
        from app.adapters.tracing.opentelemetry import CallSpans, Collector

        collector = Collector(settings.logs.otlp_endpoint)
        spans = Export("opentelemetry", collector.send, waiting=SPANS_WAITING, batch=SPANS_A_BATCH)
        tracing.exports["opentelemetry"] = spans
        tracing.observers.append(CallSpans(spans.put))
        tracing.probes["opentelemetry"] = lambda: collector.send([])
        tracing.connections.append(collector.close)
    if tracing.exports:
        atexit.register(tracing.close)
    return tracing


def _trace_to_langsmith(tracing: Tracing, settings: Settings) -> None:
    from app.adapters.tracing.langsmith import LangSmith

    backend = LangSmith(
        api_url=settings.langsmith.endpoint,
        api_key=settings.langsmith.api_key,
        project=settings.langsmith.project,
        hide_inputs=settings.langsmith.hide_inputs,
        hide_outputs=settings.langsmith.hide_outputs,
    )
    export = Export("langsmith", backend.send)
    scores = tracing.scores = Export("langsmith_scores", backend.send_scores, waiting=SCORES_WAITING, batch=1)
    tracing.exports |= {"langsmith": export, "langsmith_scores": scores}
    tracing.factories.append(lambda config: backend.callbacks(config, export.put))
    tracing.probes["langsmith"] = backend.probe
    tracing.connections.append(backend.close)


def experiments_of(settings: Settings) -> "Experiments":
    """Return the LangSmith client that stores a question set as a dataset and a run as an experiment.

    Raises:
        ConfigurationError: LANGSMITH_API_KEY is not set, or the settings hide inputs or outputs.
    """
    from app.adapters.tracing.experiments import Experiments

    if settings.langsmith.api_key is None:
        msg = "an experiment needs LangSmith: set LANGSMITH_API_KEY"
        raise ConfigurationError(msg)
    if settings.langsmith.hide_inputs or settings.langsmith.hide_outputs:
        msg = "an experiment sends questions and answers, which LANGSMITH_HIDE_INPUTS or LANGSMITH_HIDE_OUTPUTS forbids"
        raise ConfigurationError(msg)
    return Experiments(api_url=settings.langsmith.endpoint, api_key=settings.langsmith.api_key)


def check_outbox(outbox: Outbox) -> None:
    """Check the store of waiting events; an unreachable database is only a warning, because it may come back.

    Raises:
        ConfigurationError: the tables do not fit this program.
    """
    try:
        outbox.check()
    except VectorStoreError as error:
        log.warning("events_wait_in_memory", error=str(error))


def metrics_of(
    settings: Settings,
    *,
    tracing: Tracing,
    caches: CacheStats,
    outbox: Outbox | None,
    models: Mapping[str, BaseChatModel],
    uploads: Any,
) -> "Metrics":
    """Return the metrics of GET /metrics; `models` may grow."""
    from app.observability.metrics import Metrics

    def one(values: Callable[[], Mapping[str, float]]) -> "Callable[[], Mapping[Labels, float]]":
        return lambda: {(label,): value for label, value in values().items()}

    def of_providers(read: Callable[[Provider], float]) -> "Callable[[], Mapping[Labels, float]]":
        return lambda: {(model, provider.breaker.name): read(provider) for model, provider in providers_of(models)}

    def of_levels(event: Event) -> "Callable[[], Mapping[Labels, float]]":
        return one(lambda: {level: caches.of(level, event) for level in LEVELS})

    metrics = Metrics(shared=settings.logs.metrics_folder)
    add, gauge = metrics.counts, metrics.gauges
    dropped, faults = "Traces that the backend did not accept", "Steps beside an answer or an ingestion that failed"
    add("waypoint_traces_dropped", dropped, ("backend",), one(tracing.dropped))
    add("waypoint_side_step_faults", faults, ("step",), one(lambda: counts))
    state = "Whether the circuit breaker of a provider is open: 0 closed, 1 open, 0.5 half open"
    gauge(
        "waypoint_breaker_open", state, PROVIDER, of_providers(lambda provider: BREAKER_STATES[provider.breaker.state])
    )
    waiting = of_providers(lambda provider: provider.limiter.waiting)
    gauge("waypoint_llm_waiting", "Requests that wait because of LLM_RPM or LLM_TPM", PROVIDER, waiting)
    retries = of_providers(lambda provider: provider.retries.count)
    add("waypoint_llm_retries", "Retries of failed calls", PROVIDER, retries)
    for event in EVENTS:
        add(f"waypoint_cache_{event}", f"Cache {event}", ("level",), of_levels(event))
    if uploads is not None:
        results = one(lambda: {"added": uploads.added, "failed": uploads.failed})
        add("waypoint_uploaded_files", "Uploaded files", ("result",), results)
    if outbox is not None:
        unsent = "Events that the broker has not confirmed yet"
        gauge("waypoint_events_waiting", unsent, (), lambda: {(): outbox.waiting})
        add(
            "waypoint_events",
            "Events by result",
            ("result",),
            one(lambda: {"sent": outbox.sent, "dropped": outbox.dropped}),
        )
    return metrics
