"""Certify the score from which on few answers are wrong, as Learn then Test does by a fixed sequence of tests.

Thresholds of a fixed grid are tested from the strictest down: of the answers that a threshold keeps, is the share of
wrong ones at most `wrong_at_most`? Each test is the exact binomial one of Clopper and Pearson, and the first that fails
ends the sequence. Thresholds that keep too few answers to be tested are passed over.

What is assumed: the questions are a sample of those that will be asked (they are exchangeable), and a stricter
threshold keeps no larger share of wrong answers.

Angelopoulos, Bates, Candès, Jordan, Lei: Learn then test, https://doi.org/10.1214/24-AOAS1998; Clopper, Pearson: The
use of confidence or fiducial limits, https://doi.org/10.2307/2331986
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evals.logistic import Numbers
from evals.metrics import Judged

WRONG_AT_MOST, CONFIDENCE = 0.1, 0.9
GRID = tuple(number / 100 for number in range(99, 49, -1))
MOST_TIMES = 30  # A set that many times as large is the largest that is asked for.


@dataclass(frozen=True, slots=True)
class Kept:
    """Of the answers with at least a score: how many there are, and how many are wrong."""

    threshold: float
    kept: int
    wrong: int


def certify(
    judged: Judged | Numbers,
    *,
    wrong_at_most: float = WRONG_AT_MOST,
    confidence: float = CONFIDENCE,
    above: float = 0.0,
) -> Kept | None:
    """Return the lowest threshold for which at most a share of the kept answers is wrong; None if there is none.

    Args:
        judged: the score of each answer given, and whether it is right.
        wrong_at_most: the share, 0-1.
        confidence: the chance, 0-1, that a returned threshold keeps its promise on questions like these.
        above: only thresholds above it are tested.
    """
    certified = None
    for one in kept_by(judged):
        if one.kept < least_kept(wrong_at_most, confidence):
            continue
        if one.threshold <= above or probability(one.wrong, one.kept, wrong_at_most) > 1 - confidence:
            break
        certified = one
    return certified


def kept_by(judged: Judged | Numbers) -> Iterator[Kept]:
    """Yield what each threshold of the grid keeps, from the strictest down."""
    values = np.asarray(judged, dtype=np.float64).reshape(-1, 2)
    order = np.argsort(-values[:, 0], kind="stable")
    scores, wrong = -values[order, 0], np.concatenate([[0.0], np.cumsum(1 - values[order, 1])])
    for threshold, kept in zip(GRID, np.searchsorted(scores, [-one for one in GRID], side="right"), strict=True):
        yield Kept(threshold, int(kept), int(wrong[kept]))


def times_needed(
    judged: Judged, *, wrong_at_most: float = WRONG_AT_MOST, confidence: float = CONFIDENCE
) -> float | None:
    """Return how many times as many questions would do, if the shares stayed as they are; None if none would."""
    hopeful = [one for one in kept_by(judged) if one.wrong < wrong_at_most * one.kept]
    for tenths in range(10, 10 * MOST_TIMES):
        times = tenths / 10
        for one in hopeful:
            kept, wrong = math.floor(one.kept * times), math.ceil(one.wrong * times)
            if probability(wrong, kept, wrong_at_most) <= 1 - confidence:
                return times
    return None


def shortfall(judged: Judged, *, questions: int) -> str:
    """Return why no score is certified, and how many questions like these would do."""
    least, right = least_kept(WRONG_AT_MOST, CONFIDENCE), sum(right for _, right in judged)
    more = "More questions would not do: among the answers with the highest scores too many are wrong"
    if (times := times_needed(judged)) is not None:
        more = f"About {math.ceil(times * questions)} questions like these are needed, not {questions}"
    return (
        f"no score is certified: at most {100 * WRONG_AT_MOST:.0f} % wrong, with {100 * CONFIDENCE:.0f} % "
        f"confidence, needs {least} answers with high scores and none of them wrong, or more; "
        f"of {len(judged)} answers {right} are right. {more}"
    )


def certified_text(certified: Kept, *, answers: int) -> str:
    """Return what is certified, and how many of the answers reach it."""
    bound = upper_bound(certified.wrong, certified.kept, CONFIDENCE)
    reach = f"{certified.kept} of {answers} answers reach it, {certified.wrong} of them wrong"
    return (
        f"High is certified from a score of {certified.threshold:g} on: {reach}.\n"
        f"At most {100 * bound:.1f} % of such answers are wrong, with {100 * CONFIDENCE:.0f} % confidence."
    )


def least_kept(wrong_at_most: float, confidence: float) -> int:
    """Return the number of answers, all right, from which on a share of wrong ones can be certified."""
    return math.ceil(math.log(1 - confidence) / math.log(1 - wrong_at_most))


def probability(wrong: int, kept: int, share: float) -> float:
    """Return the probability of at most so many wrong ones, where that share of all is wrong."""
    odds, rest = math.log(share), math.log(1 - share)
    logs = [_log_choose(kept, number) + number * odds + (kept - number) * rest for number in range(wrong + 1)]
    return min(1.0, math.fsum(map(math.exp, logs)))


def upper_bound(wrong: int, kept: int, confidence: float) -> float:
    """Return the upper limit of Clopper and Pearson for the true share of wrong ones."""
    if wrong >= kept:
        return 1.0
    low, high = wrong / kept, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if probability(wrong, kept, middle) > 1 - confidence else (low, middle)
    return high


def _log_choose(total: int, number: int) -> float:
    return math.lgamma(total + 1) - math.lgamma(number + 1) - math.lgamma(total - number + 1)
