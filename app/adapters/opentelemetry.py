"""Send a span for each call and each stage to an OpenTelemetry collector, by OTLP over HTTP."""

import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import Status, StatusCode, set_span_in_context

from chains.around import LEFT, Call, Observer
from chains.errors import WaypointError
from chains.state import Answer

SERVICE = "waypoint-copilot"
EXPORT_TIMEOUT_S = 5

_trace_id: ContextVar[str | None] = ContextVar("trace_id", default=None)


class CallSpans(Observer):
    """Makes the spans of a call when it has ended. Stages follow each other by their laps, streamed or not.

    The trace has the answer's own `trace_id`, unless the call is part of a trace of its caller. No span holds a word of
    question, documents or answer.
    """

    def __init__(self, deliver: Callable[[ReadableSpan], None]) -> None:
        resource = Resource.create()  # What OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME say.
        if str(resource.attributes.get(SERVICE_NAME)).startswith("unknown_service"):
            resource = resource.merge(Resource({SERVICE_NAME: SERVICE}))
        provider = TracerProvider(resource=resource, shutdown_on_exit=False, id_generator=_AnswersIds())
        provider.add_span_processor(_Deliver(deliver))
        self._tracer = provider.get_tracer("waypoint")

    def ended(self, call: Call, /) -> None:
        ended = time.time_ns()
        started = ended - int(call.seconds * 1e9)
        token = _trace_id.set(_metadata(call.answer).get("trace_id"))
        try:
            root = self._tracer.start_span("cited_answer", start_time=started, attributes=_attributes(call))
        finally:
            _trace_id.reset(token)
        context = set_span_in_context(root)
        for stage, lap_ms in _metadata(call.answer).get("timings_ms", {}).items():
            span = self._tracer.start_span(stage, context=context, start_time=started)
            started += int(lap_ms * 1e6)
            span.end(started)
        if call.error is not None and not isinstance(call.error, LEFT):
            root.set_status(Status(StatusCode.ERROR, type(call.error).__name__))
        root.end(ended)


class Collector(OTLPSpanExporter):
    """An OpenTelemetry collector, to which spans are sent."""

    def send(self, spans: list[ReadableSpan]) -> None:
        """Send spans in one request. Raise ConnectionError if they did not arrive."""
        if self.export(spans) is not SpanExportResult.SUCCESS:
            raise ConnectionError("the collector did not take the spans")


class _Deliver(SpanProcessor):
    def __init__(self, deliver: Callable[[ReadableSpan], None]) -> None:
        self._deliver = deliver

    def on_end(self, span: ReadableSpan) -> None:
        if span.context and span.context.trace_flags.sampled:
            self._deliver(span)


class _AnswersIds(RandomIdGenerator):
    """Random ids, but for the trace of an answer, which has the answer's."""

    def generate_trace_id(self) -> int:
        trace_id = _trace_id.get()
        return UUID(trace_id).int if trace_id else super().generate_trace_id()


def _attributes(call: Call) -> dict[str, Any]:
    answer, metadata = call.answer, _metadata(call.answer)
    confidence = answer["confidence"] if answer else None
    attributes = {
        "waypoint.request_id": call.metadata.get("request_id"),
        "waypoint.streamed": call.streamed,
        "waypoint.outcome": answer["outcome"] if answer else None,
        "waypoint.confidence": confidence["level"] if confidence else None,
        "waypoint.cache": metadata.get("cache"),
        "waypoint.moderation": ((metadata.get("safety") or {}).get("moderation") or {}).get("result"),
        "gen_ai.response.model": metadata.get("model"),
        **{f"gen_ai.usage.{name}": count for name, count in (metadata.get("usage") or {}).items()},
        "error.type": type(call.error).__name__ if call.error else None,
        "waypoint.stage": call.error.stage if isinstance(call.error, WaypointError) else None,
    }
    return {name: value for name, value in attributes.items() if value is not None}


def _metadata(answer: Answer | None) -> Mapping[str, Any]:
    return answer["metadata"] if answer else {}
