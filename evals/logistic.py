"""Linear models fitted with a normal prior around given weights: MAP estimates by Newton's method."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

_STEPS, _ENOUGH, _LONGEST = 200, 1e-9, 1.0

Numbers = NDArray[np.float64]


def logistic(design: Numbers, right: Numbers, weights: Numbers, start: Numbers, held: Numbers) -> Numbers:
    """Return the weights of a logistic regression.

    Args:
        design: the values of each row, shape (rows, columns).
        right: 1 or 0 for each row.
        weights: how much each row counts.
        start: the weights of the prior.
        held: how strongly each weight is held to the prior: the inverse of its variance around it.
    """

    def step(found: Numbers) -> tuple[Numbers, Numbers]:
        said = 1 / (1 + np.exp(-design @ found))
        slope = design.T @ (weights * (right - said))
        return slope, (design * (weights * said * (1 - said))[:, None]).T @ design

    return _newton(step, start, held)


def listwise(groups: Sequence[tuple[Numbers, Numbers]], start: Numbers, held: Numbers) -> Numbers:
    """Return the weights of a ranker (ListNet: Cao et al. 2007), whose scores' softmax tells the best of a group.

    Args:
        groups: for each question the values of its statements, shape (statements, columns), and how good each is; the
            latter sum to 1.
        start: the weights of the prior.
        held: how strongly each weight is held to the prior.
    """

    def step(found: Numbers) -> tuple[Numbers, Numbers]:
        slope, curve = np.zeros(len(found)), np.zeros((len(found), len(found)))
        for values, wanted in groups:
            scores = values @ found
            said = np.exp(scores - scores.max())
            said /= said.sum()
            centred = values - said @ values
            slope += values.T @ (wanted - said)
            curve += (centred * said[:, None]).T @ centred
        return slope, curve

    return _newton(step, start, held)


def _newton(step: Callable[[Numbers], tuple[Numbers, Numbers]], start: Numbers, held: Numbers) -> Numbers:
    found = start.astype(np.float64)
    for _ in range(_STEPS):
        slope, curve = step(found)
        change = np.linalg.solve(curve + np.diag(held), slope - held * (found - start))
        change *= min(1.0, _LONGEST / max(_ENOUGH, float(np.abs(change).max())))  # A long step may overshoot for good.
        found = found + change
        if np.abs(change).max() < _ENOUGH:
            break
    return np.asarray(found, dtype=np.float64)
