"""Build the tracing: to LangSmith, to an OpenTelemetry collector, to both or neither."""

import atexit
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import Runnable, RunnableBinding, RunnableConfig

from app.observability.tracing import SHUTDOWN_TIMEOUT_S, Export, close
from app.settings import Settings
from chains.observers import Observer
from chains.state import Answer, Question

SPANS_WAITING, SPANS_A_BATCH = 4096, 512


@dataclass
class Tracing:
    """Tracers and observers for the chain, and the exports that send their traces."""

    exports: dict[str, Export[Any]] = field(default_factory=dict)
    factories: list[Callable[[RunnableConfig], RunnableConfig]] = field(default_factory=list)
    observers: list[Observer] = field(default_factory=list)
    connections: list[Callable[[], None]] = field(default_factory=list)
    probes: dict[str, Callable[[], None]] = field(default_factory=dict)

    def traced(self, chain: Runnable[Question, Answer]) -> Runnable[Question, Answer]:
        """Return the chain with every call traced."""
        return RunnableBinding(bound=chain, config_factories=self.factories) if self.factories else chain

    def dropped(self) -> dict[str, float]:
        """Return how many traces (of OpenTelemetry: spans) did not arrive, by backend."""
        return {name: export.dropped for name, export in self.exports.items()}

    def close(self, *, within_s: float = SHUTDOWN_TIMEOUT_S) -> None:
        """Send what is queued, for at most `within_s`."""
        atexit.unregister(self.close)
        close(self.exports.values(), within_s=within_s)
        while self.connections:
            self.connections.pop()()


def tracing_of(settings: Settings) -> Tracing:
    """Return the tracing that the settings ask for; it is closed at the end of the process, if not before."""
    tracing = Tracing()
    if settings.langsmith_tracing:
        _trace_to_langsmith(tracing, settings)
    if settings.otel_exporter_otlp_endpoint:
        _trace_to_collector(tracing, settings.otel_exporter_otlp_endpoint)
    if tracing.exports:
        atexit.register(tracing.close)
    return tracing


def _trace_to_langsmith(tracing: Tracing, settings: Settings) -> None:
    from app.adapters.tracing.langsmith import LangSmith

    backend = LangSmith(
        api_url=settings.langsmith_endpoint,
        api_key=settings.langsmith_api_key,
        project=settings.langsmith_project,
        hide_inputs=settings.langsmith_hide_inputs,
        hide_outputs=settings.langsmith_hide_outputs,
    )
    export = Export("langsmith", backend.send)
    tracing.exports["langsmith"] = export
    tracing.factories.append(lambda config: backend.callbacks(config, export.put))
    tracing.probes["langsmith"] = backend.probe
    tracing.connections.append(backend.close)


def _trace_to_collector(tracing: Tracing, endpoint: str) -> None:
    from app.adapters.tracing.opentelemetry import CallSpans, Collector

    collector = Collector(endpoint)
    export = Export("opentelemetry", collector.send, waiting=SPANS_WAITING, batch=SPANS_A_BATCH)
    tracing.exports["opentelemetry"] = export
    tracing.observers.append(CallSpans(export.put))
    tracing.probes["opentelemetry"] = lambda: collector.send([])
    tracing.connections.append(collector.close)
