"""How long each stage took, and all of them together."""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from evals.metrics.measure import Measure, Numbers, table
from evals.rows import Pair

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
