"""Questions, requests, and what others count -> figures in the text form of Prometheus."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from chains.observers import LEFT, Call
from chains.state import Answer

ANSWER_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 90)
STAGE_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60)
# The names of a figure's labels, or their values.
Labels = tuple[str, ...]
USAGE = {"input_tokens": "prompt", "output_tokens": "completion"}


class Metrics:
    """Counts what passes, and asks others for their figures when it is asked itself. No label takes free text.

    Attributes:
        shared: The folder in which the processes of one service keep their counts (PROMETHEUS_MULTIPROC_DIR), so that
            whichever of them is asked tells the sum. What `gauge` and `counts` read is always that process's own.
    """

    def __init__(self, *, shared: Path | None = None) -> None:
        without_times_of_creation: Callable[[], None] = disable_created_metrics  # They double the figures.
        without_times_of_creation()
        self.shared = shared
        self.counted, self.read = CollectorRegistry(), CollectorRegistry()
        self._requests = Counter(
            "waypoint_requests", "HTTP requests.", ["method", "route", "status"], registry=self.counted
        )
        self._request_seconds = Histogram(
            "waypoint_request_seconds",
            "Time to the end of a response.",
            ["route"],
            buckets=ANSWER_SECONDS,
            registry=self.counted,
        )
        self._answers = Counter(
            "waypoint_answers", "Questions, by what came of them.", ["outcome"], registry=self.counted
        )
        self._answer_seconds = Histogram(
            "waypoint_answer_seconds",
            "Time to the end of an answer.",
            ["streamed"],
            buckets=ANSWER_SECONDS,
            registry=self.counted,
        )
        self._stage_seconds = Histogram(
            "waypoint_stage_seconds",
            "Lap time of a stage.",
            ["stage"],
            buckets=STAGE_SECONDS,
            registry=self.counted,
        )
        self._tokens = Counter(
            "waypoint_llm_tokens", "Tokens, as the model reports them.", ["kind"], registry=self.counted
        )
        self._running = Gauge(
            "waypoint_questions_running",
            "Questions being answered.",
            registry=self.counted,
            multiprocess_mode="livesum",
        )

    def gauge(self, name: str, help: str, read: Callable[[], float]) -> None:
        """Tell the value that `read` returns whenever the figures are asked for."""
        self.read.register(_Reading(lambda: GaugeMetricFamily(name, help, value=read())))

    def gauges(self, name: str, help: str, labels: Labels, read: Callable[[], Mapping[Labels, float]]) -> None:
        """Tell the values that `read` returns by the values of `labels`."""
        self.read.register(_Reading(lambda: _filled(GaugeMetricFamily(name, help, labels=labels), read())))

    def counts(self, name: str, help: str, labels: Labels, read: Callable[[], Mapping[Labels, float]]) -> None:
        """Tell the growing counts that `read` returns by the values of `labels`."""
        self.read.register(_Reading(lambda: _filled(CounterMetricFamily(name, help, labels=labels), read())))

    def request(self, *, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request; `route` is the route's template, never a client's own path."""
        self._requests.labels(method, route, str(status)).inc()
        self._request_seconds.labels(route).observe(seconds)

    def started(self, call: Call, /) -> None:
        """Count a question as running."""
        self._running.inc()

    def ended(self, call: Call, /) -> None:
        """Count what came of a question: its answer's outcome, `failed`, or `left` by its client."""
        self._running.dec()
        self._answer_seconds.labels(str(call.streamed).lower()).observe(call.seconds)
        if call.answer is None:
            self._answers.labels("left" if isinstance(call.error, LEFT) else "failed").inc()
            return
        self._answers.labels(call.answer.get("outcome") or "unknown").inc()
        self._count_work(call.answer)

    def _count_work(self, answer: Answer) -> None:
        metadata = answer.get("metadata")
        if not metadata:
            return
        for stage, lap_ms in metadata["timings_ms"].items():
            self._stage_seconds.labels(stage).observe(lap_ms / 1000)
        if "answer" not in (metadata["cache"] or ""):  # A cached answer tells what it has cost when it was made.
            for name, kind in USAGE.items():
                self._tokens.labels(kind).inc((metadata["usage"] or {}).get(name, 0))

    def text(self) -> bytes:
        """Return all figures."""
        counted = self.counted
        if self.shared is not None:
            counted = CollectorRegistry()
            collector: Callable[..., Collector] = MultiProcessCollector
            collector(counted, path=str(self.shared))
        return generate_latest(counted) + generate_latest(self.read)


class _Reading(Collector):
    """Figures that are somebody else's, read when they are asked for."""

    def __init__(self, read: Callable[[], Metric]) -> None:
        self._read = read

    def collect(self) -> Iterable[Metric]:
        """Return the figures as they are now."""
        return [self._read()]

    def describe(self) -> Iterable[Metric]:
        """Return nothing: a figure need not be readable yet when it is registered."""
        return []


def _filled(family: GaugeMetricFamily | CounterMetricFamily, figures: Mapping[Labels, float]) -> Metric:
    for values, figure in figures.items():
        family.add_metric(values, figure)
    return family
