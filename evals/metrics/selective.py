"""What becomes of answers when the least confident are withheld: risk by coverage, coverage by false answers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evals.metrics.measure import Numbers

FALSE_ANSWER_LIMITS = (0.05, 0.15)


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the curve: the share of answers that are kept, the share of these that is wrong, the threshold."""

    coverage: float
    risk: float
    threshold: float


def risk_coverage(judged: Sequence[tuple[float, bool]] | Numbers) -> list[Point]:
    """Return the risk-coverage curve (El-Yaniv and Wiener 2010), one point for each confidence that occurs."""
    told = np.asarray(judged, dtype=np.float64).reshape(-1, 2)
    levels, group, counts = np.unique(-told[:, 0], return_inverse=True, return_counts=True)
    wrong = np.cumsum(np.bincount(group, weights=1 - told[:, 1], minlength=len(levels)))
    kept = np.cumsum(counts)
    return [
        Point(float(many / len(told)), float(bad / many), float(-level))
        for many, bad, level in zip(kept, wrong, levels, strict=True)
    ]


def risk_coverage_area(judged: Sequence[tuple[float, bool]] | Numbers) -> float | None:
    """Return the mean risk over every number of answers kept, the most confident first; ties in any order, expected."""
    told = np.asarray(judged, dtype=np.float64).reshape(-1, 2)
    if not len(told):
        return None
    _, group, counts = np.unique(-told[:, 0], return_inverse=True, return_counts=True)
    risks = np.bincount(group, weights=1 - told[:, 1]) / counts
    wrong = np.cumsum(np.repeat(risks, counts))
    return float(np.mean(wrong / np.arange(1, len(told) + 1)))


def coverage_at(scored: Numbers, *, limit: float) -> float | None:
    """Return the largest share of questions in scope that is answered while at most `limit` of the others are.

    Args:
        scored: (questions, 2): the confidence, -1 where no answer was given; 1 in scope, 0 out of it.
        limit: The greatest share of questions out of scope that may be answered.
    """
    inside, outside = scored[scored[:, 1] == 1, 0], scored[scored[:, 1] == 0, 0]
    if not len(inside) or not len(outside):
        return None
    allowed = int(limit * len(outside) + 1e-9)
    first_too_many = -np.sort(-outside)[allowed] if allowed < len(outside) else -1.0
    return float(np.mean(inside > first_too_many))


def false_answer_curve(scored: Numbers) -> list[tuple[float, float]]:
    """Return (out of scope answered, in scope answered), as shares, for every threshold from the highest on.

    Args:
        scored: As for `coverage_at`. Without questions of both sorts there is no curve.
    """
    inside, outside = scored[scored[:, 1] == 1, 0], scored[scored[:, 1] == 0, 0]
    if not len(inside) or not len(outside):
        return []
    thresholds = np.unique(scored[scored[:, 0] >= 0, 0])[::-1]
    points = [(float(np.mean(outside >= one)), float(np.mean(inside >= one))) for one in thresholds]
    return [(0.0, 0.0), *points]
