"""Logistic regression with a normal prior around given weights: the MAP estimate by Newton's method."""

import numpy as np
from numpy.typing import NDArray

_STEPS, _ENOUGH = 50, 1e-9

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
    found = start.astype(np.float64)
    for _ in range(_STEPS):
        said = 1 / (1 + np.exp(-design @ found))
        slope = design.T @ (weights * (right - said)) - held * (found - start)
        curve = (design * (weights * said * (1 - said))[:, None]).T @ design + np.diag(held)
        change = np.linalg.solve(curve, slope)
        found = found + change
        if np.abs(change).max() < _ENOUGH:
            break
    return np.asarray(found, dtype=np.float64)
