"""Metrics for Prometheus."""

import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from chains.around import LEFT, Call
from chains.state import Metadata

ANSWER_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 90)
LATEST = 1000  # Answers whose percentiles `/health/ready` tells.
STAGE_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60)
USAGE = {"input_tokens": "prompt", "output_tokens": "completion"}


class Metrics:
    """Counts requests and answers, and reads the counts of other parts when Prometheus scrapes.

    Args:
        shared: The folder in which worker processes share their counts: a scrape of any of them returns the sum.
        read: Returns the counts of other parts, which are always of the process that is scraped.
    """

    def __init__(self, *, shared: Path | None = None, read: Callable[[], Iterable[Metric]] = tuple) -> None:
        disable: Callable[[], None] = disable_created_metrics  # They double the number of metrics.
        disable()
        self.shared, self.read = shared, read
        self.counted = CollectorRegistry()
        self._requests = self._counter("waypoint_requests", "HTTP requests", "method", "route", "status")
        sent = "Seconds until a response was sent"
        self._request_seconds = self._histogram("waypoint_request_seconds", sent, ANSWER_SECONDS, "route")
        self._answers = self._counter("waypoint_answers", "Questions by outcome", "outcome")
        complete = "Seconds until an answer was complete"
        self._answer_seconds = self._histogram("waypoint_answer_seconds", complete, ANSWER_SECONDS, "streamed")
        self._stage_seconds = self._histogram("waypoint_stage_seconds", "Seconds of a stage", STAGE_SECONDS, "stage")
        self._tokens = self._counter("waypoint_llm_tokens", "Tokens that the language model counted", "kind")
        self._checks = self._counter("waypoint_safety", "What the safety checks did", "check")
        self._latest_s: deque[float] = deque(maxlen=LATEST)
        running = "waypoint_questions_running", "Questions that are being answered"
        self._running = Gauge(*running, registry=self.counted, multiprocess_mode="livesum")

    def _counter(self, name: str, help: str, *labels: str) -> Counter:
        return Counter(name, help, labels, registry=self.counted)

    def _histogram(self, name: str, help: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(name, help, labels, buckets=buckets, registry=self.counted)

    def request(self, *, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request; `route` is the route's template, never a client's own path."""
        self._requests.labels(method, route, str(status)).inc()
        self._request_seconds.labels(route).observe(seconds)

    def started(self, call: Call, /) -> None:
        self._running.inc()

    def ended(self, call: Call, /) -> None:
        """Count a question by its answer's outcome; it may also have `failed`, or its client may have `left`."""
        self._running.dec()
        self._answer_seconds.labels(str(call.streamed).lower()).observe(call.seconds)
        self._latest_s.append(call.seconds)
        if call.answer is None:
            self._answers.labels("left" if isinstance(call.error, LEFT) else "failed").inc()
            return
        self._answers.labels(call.answer.get("outcome") or "unknown").inc()
        if metadata := call.answer.get("metadata"):
            self._count_work(metadata)

    def _count_work(self, metadata: Metadata) -> None:
        for stage, lap_ms in metadata["timings_ms"].items():
            self._stage_seconds.labels(stage).observe(lap_ms / 1000)
        if "answer" not in (metadata["cache"] or ""):  # A cached answer repeats what it cost when it was made.
            for name, kind in USAGE.items():
                self._tokens.labels(kind).inc((metadata["usage"] or {}).get(name, 0))
        safety = metadata.get("safety")
        if safety is None:
            return
        if safety["action"] != "none":
            self._checks.labels(f"{safety['action']}_{safety['reason']}").inc()
        for kind in safety["redacted"]:
            self._checks.labels(f"redacted_{kind.lower()}").inc()
        if moderation := safety.get("moderation"):
            self._checks.labels(f"moderation_{moderation['result']}").inc()
        for check in ("passages_dropped", "links_removed"):
            self._checks.labels(check).inc(safety[check])

    def percentiles(self) -> dict[str, float]:
        """Return how many seconds the latest answers of this process took; empty before the first."""
        times = sorted(self._latest_s)
        return {
            f"p{share}": round(times[math.ceil(share / 100 * len(times)) - 1], 3) for share in (50, 95, 99) if times
        }

    def text(self) -> bytes:
        counted = self.counted
        if self.shared is not None:
            counted = CollectorRegistry()
            collector: Callable[..., Collector] = MultiProcessCollector
            collector(counted, path=str(self.shared))
        others: Any = SimpleNamespace(collect=self.read)
        return generate_latest(counted) + generate_latest(others)


def gauge(name: str, help: str, labels: Sequence[str], values: Mapping[Any, float]) -> Metric:
    return _filled(GaugeMetricFamily(name, help, labels=labels), values)


def counter(name: str, help: str, labels: Sequence[str], values: Mapping[Any, float]) -> Metric:
    return _filled(CounterMetricFamily(name, help, labels=labels), values)


def _filled(family: GaugeMetricFamily | CounterMetricFamily, values: Mapping[Any, float]) -> Metric:
    for labels, value in values.items():
        family.add_metric((labels,) if isinstance(labels, str) else labels, value)
    return family
