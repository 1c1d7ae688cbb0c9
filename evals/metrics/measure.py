"""A measure: what each question contributes to a figure, and how the figure comes from that; with intervals."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from evals.rows import Pair

SAMPLES = 1000
LEAST_QUESTIONS = 2  # Of one question there is nothing to resample.

Numbers = NDArray[np.float64]
Picks = NDArray[np.intp]
Statistic = Callable[[Numbers], float | None]


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure, of how many questions (or citations) it is, and the group it belongs to; None where there are none.

    `low` and `high` are its 95 % interval, None where it was not asked for.
    """

    group: str
    name: str
    value: float | None
    count: int
    low: float | None = None
    high: float | None = None
    less_is_better: bool = False


@dataclass(frozen=True, slots=True)
class Measure:
    """The parts of a figure, a row for each question (NaN where it does not count), and the statistic over them."""

    group: str
    name: str
    parts: Numbers
    statistic: Statistic
    less_is_better: bool = False

    @property
    def count(self) -> int:
        """Return how many questions the figure is of; of a ratio, how many things it counts."""
        counted = _counting(self.parts)
        return round(float(counted[:, 1].sum())) if self.statistic is ratio_of else len(counted)

    def value(self, picks: Picks | None = None) -> float | None:
        """Return the figure of all questions, or of those picked; None where none of them counts."""
        counted = _counting(self.parts if picks is None else self.parts[picks])
        return self.statistic(counted) if len(counted) else None

    def values(self, picks: Picks) -> Numbers:
        """Return the figure for each row of picks; NaN where none of the questions picked counts."""
        if self.statistic is ratio_of:
            over, under = np.moveaxis(np.nan_to_num(self.parts)[picks].sum(axis=1), 1, 0)
            shares: Numbers = np.divide(over, under, out=np.full(len(picks), np.nan), where=under > 0)
            return shares
        found = [self.value(pick) for pick in picks]
        return np.array([np.nan if value is None else value for value in found])

    def metric(self) -> Metric:
        """Return the figure, without an interval."""
        return Metric(self.group, self.name, self.value(), self.count, less_is_better=self.less_is_better)


def mean(group: str, name: str, values: Sequence[float | None], *, less_is_better: bool = False) -> Measure:
    """Return the measure of a mean; None for a question that does not count."""
    parts = [None if value is None else (float(value), 1.0) for value in values]
    return ratio(group, name, parts, less_is_better=less_is_better)


def ratio(
    group: str, name: str, parts: Sequence[tuple[float, float] | None], *, less_is_better: bool = False
) -> Measure:
    """Return the measure of a ratio: the sum of the first parts over that of the second ones."""
    return Measure(group, name, table(parts, 2), ratio_of, less_is_better)


def ratio_of(parts: Numbers) -> float | None:
    """Return the sum of the first column over that of the second one."""
    over, under = parts.sum(axis=0)
    return float(over / under) if under else None


def table(rows: Sequence[Sequence[float] | None], width: int) -> Numbers:
    """Return the rows as an array (rows, width), with NaN for None."""
    nothing = (float("nan"),) * width
    return np.array([nothing if row is None else row for row in rows], dtype=np.float64).reshape(len(rows), width)


def with_intervals(measures: Sequence[Measure], *, samples: int = SAMPLES, seed: int = 0) -> list[Metric]:
    """Return the figures with 95 % intervals by bootstrap over the questions (Efron 1979, percentile method)."""
    questions = len(measures[0].parts) if measures else 0
    if questions < LEAST_QUESTIONS:
        return [measure.metric() for measure in measures]
    picks = resamples(questions, samples, seed)
    return [_with_interval(measure, picks) for measure in measures]


def resamples(questions: int, samples: int, seed: int) -> Picks:
    """Return `samples` rows of as many questions as there are, each drawn with replacement."""
    return np.random.default_rng(seed).integers(0, questions, (samples, questions))


def interval(values: Numbers) -> tuple[float, float] | None:
    """Return what holds the middle 95 % of the values; None where there are none."""
    known = values[~np.isnan(values)]
    if not len(known):
        return None
    low, high = np.percentile(known, [2.5, 97.5])
    return float(low), float(high)


def _with_interval(measure: Measure, picks: Picks) -> Metric:
    low, high = interval(measure.values(picks)) or (None, None)
    return Metric(measure.group, measure.name, measure.value(), measure.count, low, high, measure.less_is_better)


def _counting(parts: Numbers) -> Numbers:
    counted: Numbers = parts[~np.isnan(parts[:, 0])]
    return counted


GROUP = "latency"
ALL_STAGES = "all stages"


def latency(pairs: Sequence[Pair]) -> list[Measure]:
    """Return the median and the 95th percentile of each stage and of the whole, in milliseconds."""
    timings = [row["timings_ms"] for _, row in pairs]
    stages = dict.fromkeys(stage for timing in timings for stage in timing)
    times: dict[str, list[float | None]] = {stage: [timing.get(stage) for timing in timings] for stage in stages}
    times[ALL_STAGES] = [sum(timing.values()) for timing in timings]
    return [
        Measure(
            GROUP,
            f"{stage} p{percent} (ms)",
            table([None if value is None else (value,) for value in values], 1),
            partial(_percentile_of, percent=percent),
            less_is_better=True,
        )
        for stage, values in times.items()
        for percent in (50, 95)
    ]


def _percentile_of(times: Numbers, *, percent: int) -> float | None:
    return percentile(np.sort(times[:, 0]).tolist(), percent)


def percentile(values: Sequence[float], percent: int) -> float | None:
    """Return the nearest-rank percentile."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)] if ordered else None
