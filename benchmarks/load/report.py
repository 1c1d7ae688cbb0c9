"""One load, and the tables of what its users were told and what was aimed at."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import psutil

from benchmarks.load.users import Ask, Sample, ask_all
from benchmarks.offline import questions
from benchmarks.tables import verdicts

MODEL_MS = 500
"""What the language model takes for an answer, or until the first word of a stream."""

QUERY, STREAM = "`/api/query`", "`/copilot/stream`"
HEAD = """\
| asked | users | answers a second | errors | p50 / p95 | beside the model p50 / p95 | processor an answer |
|---|---|---|---|---|---|---|"""


@dataclass(frozen=True)
class Measured:
    """A load and what came of it; `used` are the seconds of a processor that the service took, where it was watched."""

    name: str
    users: int
    seconds: float
    samples: Sequence[Sample]
    used: float = 0.0

    @property
    def good(self) -> list[Sample]:
        return [sample for sample in self.samples if not sample.error]

    @property
    def rate(self) -> float:
        return len(self.good) / self.seconds

    @property
    def processor_ms(self) -> float:
        return 1000 * self.used / max(len(self.good), 1)

    @property
    def errors(self) -> int:
        return len(self.samples) - len(self.good)

    @property
    def whole(self) -> list[float]:
        return [sample.whole for sample in self.good]

    @property
    def beside(self) -> list[float]:
        """Return the milliseconds that the service says it took beside the model's."""
        return [sample.handler - MODEL_MS for sample in self.good if sample.handler is not None]

    @property
    def first_events(self) -> list[float]:
        return [sample.first_event for sample in self.good if sample.first_event is not None]

    @property
    def first_words(self) -> list[float]:
        """Return the milliseconds until the first words of a stream beside the model's: a sentence is checked whole."""
        return [sample.first_words - MODEL_MS for sample in self.good if sample.first_words is not None]


def row(load: Measured) -> str:
    beside = _both(load.beside)
    if load.first_events:
        beside = f"first event {_both(load.first_events)}, first words {_both(load.first_words)}"
    used = f"{load.processor_ms:.1f} ms" if load.used else ""
    cells = [load.name, str(load.users), f"{load.rate:.1f}", str(load.errors), _both(load.whole), beside, used]
    return f"| {' | '.join(cells)} |"


def aims(loads: Sequence[Measured], users: tuple[int, int, int] = (16, 50, 200)) -> str:
    by = {(load.name, load.users): load for load in loads}
    few, some, many = (by[QUERY, number] for number in users)
    stream = by[STREAM, few.users]
    found = [
        (f"{few.users} users: p95 beside the model at most 25 ms", *_within(few.beside, 25)),
        (f"{some.users} users: no error", str(some.errors), not some.errors),
        (f"{some.users} users: p95 at most 900 ms", *_within(some.whole, 900)),
        (f"{many.users} users: no error", str(many.errors), not many.errors),
        (f"{many.users} users: as many answers a second as {some.users} have", *_as_many(many, some)),
        (f"first event of a stream within 150 ms, {few.users} users", *_within(stream.first_events, 150)),
    ]
    return verdicts(found)


def _within(values: Sequence[float], most_ms: float) -> tuple[str, bool]:
    return _ms(values), _p95(values) <= most_ms


def _as_many(many: Measured, some: Measured) -> tuple[str, bool]:
    told = f"{many.rate / some.rate:.2f} x" if some.rate else "none had any"
    return told, many.rate >= some.rate


def _p95(values: Sequence[float]) -> float:
    return float(np.percentile(values, 95)) if values else float("inf")


def _ms(values: Sequence[float]) -> str:
    return f"{_p95(values):.0f} ms"


def _both(values: Sequence[float]) -> str:
    return " / ".join(f"{value:.0f} ms" for value in np.percentile(values, [50, 95])) if values else ""


WARM_S = 3.0
SETTINGS = {"LLM_API_KEY": "gsk_load", "LOG_LEVEL": "error"}


@dataclass(frozen=True)
class Load:
    """Who asks what and how; the processor's time is that of the processes that are `watched`."""

    name: str
    url: str
    ask: Ask
    users: int
    watched: tuple[psutil.Process, ...] = ()

    def used(self) -> float:
        """Return the seconds of a processor that were used so far."""
        return sum(times.user + times.system for times in (process.cpu_times() for process in self.watched))


def measured(load: Load, seconds: float, *, warm_s: float = WARM_S) -> Measured:
    """Load the service for so many seconds after `warm_s`, and return what came of it."""
    used: list[float] = []
    asking = ask_all(
        load.url,
        questions("answerable"),
        load.ask,
        users=load.users,
        warm_s=warm_s,
        seconds=seconds,
        mark=lambda: used.append(load.used()),
    )
    samples = asyncio.run(asking)
    return Measured(load.name, load.users, seconds, samples, used[1] - used[0])
