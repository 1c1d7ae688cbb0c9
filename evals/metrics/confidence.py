"""How well the confidence of the answers given tells the right ones from the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from evals.metrics.answers import is_declined, is_judged, is_right
from evals.metrics.measure import Measure, Numbers, Statistic, table
from evals.questions import OUT_OF_SCOPE
from evals.rows import Pair, score_of

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


GROUP = "confidence"
BINS = 10
WITHHELD = -1.0  # Below every confidence.

Judged = Sequence[tuple[float, bool]]


def confidence(pairs: Sequence[Pair]) -> list[Measure]:
    """Return calibration, ranking, and what withholding the least confident answers would give."""
    judged = table([_judgement(pair) for pair in pairs], 2)
    scored = scores(pairs, only_counting=False)
    figures: list[tuple[str, Statistic, bool]] = [
        ("ECE", calibration_error, True),
        ("ECE, bins of equal mass", partial(calibration_error, equal_mass=True), True),
        ("Brier score", brier, True),
        ("AUROC", auroc, False),
        ("area under risk-coverage", risk_coverage_area, True),
    ]
    limits = [
        Measure(
            GROUP,
            f"in scope answered at {limit:.0%} false answers".replace("%", " %"),
            scored,
            partial(coverage_at, limit=limit),
        )
        for limit in FALSE_ANSWER_LIMITS
    ]
    return [*(Measure(GROUP, name, judged, figure, less) for name, figure, less in figures), *limits]


def _judgement(pair: Pair) -> tuple[float, float] | None:
    case, row = pair
    given = is_judged(case) and not is_declined(row)
    return (score_of(row), float(is_right(case, row))) if given else None


def _scored(pair: Pair) -> tuple[float, float] | None:
    case, row = pair
    if not case.in_scope and case.kind not in OUT_OF_SCOPE:
        return None
    return (WITHHELD if is_declined(row) else score_of(row)), float(case.in_scope)


def scores(pairs: Sequence[Pair], *, only_counting: bool = True) -> Numbers:
    """Return (questions, 2): the confidence, -1 where no answer was given; 1 in scope, 0 out of it.

    An underspecified question is neither; it has NaN, or no row if only those that count are asked for.
    """
    found = table([_scored(pair) for pair in pairs], 2)
    counting: Numbers = found[~np.isnan(found[:, 0])] if only_counting else found
    return counting


def judgements(pairs: Sequence[Pair]) -> Judged:
    """Return the confidence of each answer given that can be judged, and whether it is right."""
    found = [_judgement(pair) for pair in pairs]
    return [(one[0], bool(one[1])) for one in found if one is not None]


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of similar confidence: their number, mean confidence, and the share that is right."""

    count: int
    confidence: float
    right: float


def reliability(judged: Judged | Numbers, bins: int = BINS, *, equal_mass: bool = False) -> list[Bin]:
    """Return the answers in bins of equal width, or of equal numbers of answers; those that hold any."""
    told = np.asarray(judged, dtype=np.float64).reshape(-1, 2)
    if equal_mass:
        told = even_ties(told)
        held = [some for some in np.array_split(told, bins) if len(some)]
    else:
        place = np.minimum((told[:, 0] * bins).astype(int), bins - 1)
        held = [told[place == number] for number in np.unique(place)]
    return [Bin(len(some), *(float(value) for value in some.sum(axis=0) / len(some))) for some in held]


def even_ties(judged: Numbers) -> Numbers:
    """Return the answers from the least to the most confident; those of one confidence share their mean rightness."""
    _, group, counts = np.unique(judged[:, 0], return_inverse=True, return_counts=True)
    means = np.bincount(group, weights=judged[:, 1]) / counts
    return np.column_stack([judged[:, 0], means[group]])[np.argsort(group, kind="stable")]


def calibration_error(judged: Judged | Numbers, *, equal_mass: bool = False) -> float | None:
    """Return the expected calibration error (Guo et al. 2017) over ten bins, of equal width or of equal mass."""
    if not len(judged):
        return None
    bins = reliability(judged, equal_mass=equal_mass)
    return sum(bin_.count * abs(bin_.confidence - bin_.right) for bin_ in bins) / len(judged)


def brier(judged: Judged | Numbers) -> float | None:
    """Return the mean squared difference of confidence and truth."""
    if not len(judged):
        return None
    told = np.asarray(judged, dtype=np.float64)
    return float(np.mean((told[:, 0] - told[:, 1]) ** 2))


def auroc(judged: Judged | Numbers) -> float | None:
    """Return the chance that a right answer has more confidence than a wrong one, ties half; None without both."""
    told = np.asarray(judged, dtype=np.float64).reshape(-1, 2)
    right, wrong = told[told[:, 1] == 1, 0], np.sort(told[told[:, 1] == 0, 0])
    if not len(right) or not len(wrong):
        return None
    below, not_above = (np.searchsorted(wrong, right, side=side) for side in ("left", "right"))
    return float((below + not_above).sum() / 2 / (len(right) * len(wrong)))
