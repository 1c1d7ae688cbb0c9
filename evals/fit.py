"""Fit the model of the calibrated confidence on rows whose answers are known to be right or wrong.

Logistic regression with a normal prior around the weights of an earlier model (MAP estimate by Newton's method): with
few rows the result stays near that model, with many it follows the rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chains.confidence.calibrated import CalibrationModel, Factor
from chains.errors import WaypointError
from evals.logistic import Numbers, logistic
from evals.metrics import Judged, Pair, auroc, calibration_error, is_right

# How strongly the weights are held to those of the prior: the inverse of their variance around them.
STRENGTH = 20.0
FOLDS = 5
LEAST_ROWS = 20


@dataclass(frozen=True, slots=True)
class Labelled:
    """The features of an answer, whether it is right, and the corpus that it is about."""

    features: Mapping[str, float]
    right: bool
    corpus: str = ""


def fit(
    rows: Sequence[Labelled], prior: CalibrationModel, *, strength: float = STRENGTH, fitted_on: str = ""
) -> CalibrationModel:
    """Return the prior fitted to the rows; each corpus counts alike, however many rows it has."""
    values = standardised(rows, prior)
    design = np.column_stack([np.ones(len(rows)), values])
    right = np.array([row.right for row in rows], dtype=np.float64)
    start = np.array([prior.intercept, *(factor.weight for factor in prior.factors.values())])
    held = np.full(len(start), strength)
    held[0] = 1.0  # How many answers are right differs between corpora: the intercept is free to follow.
    found = logistic(design, right, _balanced(rows), start, held)
    factors = {
        name: replace(factor, weight=float(weight))
        for (name, factor), weight in zip(prior.factors.items(), found[1:], strict=True)
    }
    return CalibrationModel(float(found[0]), factors, fitted_on)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A model, and in words what it gained."""

    model: CalibrationModel
    summary: str


def fit_to(rows: Sequence[Labelled], prior: CalibrationModel, *, fitted_on: str) -> Fitted:
    """Return the prior fitted to the rows, and what that gains on rows it has not seen.

    Raises:
        WaypointError: there are too few rows, or all are right, or all are wrong.
    """
    right = sum(row.right for row in rows)
    if len(rows) < LEAST_ROWS or right in (0, len(rows)):
        msg = (
            f"of the {len(rows)} questions that were answered {right} are right; "
            f"a confidence can be fitted to {LEAST_ROWS} or more answers, some right and some wrong"
        )
        raise WaypointError(msg)
    before = [(prior.probability(row.features), row.right) for row in rows]
    after = cross_validated(rows, prior)
    lines = [f"confidence, fitted to {len(rows)} answers, {right} of them right ({FOLDS}-fold cross-validation)"]
    for name, (change, low, high) in gain(before, after).items():
        figure = {"AUROC": auroc, "ECE": calibration_error}[name]
        values = f"{figure(before):.3f} -> {figure(after):.3f}"
        lines.append(f"  {name}  {values}  ({change:+.3f}, 95 % interval {low:+.3f} to {high:+.3f})")
    return Fitted(fit(rows, prior, fitted_on=fitted_on), "\n".join(lines))


def untrained(rows: Sequence[Labelled], names: Sequence[str]) -> CalibrationModel:
    """Return a model that knows the features' means and scales over the rows, and nothing else."""
    values = np.array([[row.features.get(name, np.nan) for name in names] for row in rows])
    scales = np.maximum(np.nanstd(values, axis=0), 1e-6)
    factors = {
        name: Factor(float(mean), float(scale), 0.0)
        for name, mean, scale in zip(names, np.nanmean(values, axis=0), scales, strict=True)
    }
    return CalibrationModel(0.0, factors, "nothing")


def cross_validated(rows: Sequence[Labelled], prior: CalibrationModel, *, seed: int = 0) -> Judged:
    """Return for each row what a model says of it that was fitted on other folds, and whether it is right."""
    order = np.random.default_rng(seed).permutation(len(rows))
    judged: dict[int, tuple[float, bool]] = {}
    for fold in np.array_split(order, FOLDS):
        held = set(fold.tolist())
        model = fit([row for n, row in enumerate(rows) if n not in held], prior)
        judged |= {n: (model.probability(rows[n].features), rows[n].right) for n in held}
    return [judged[n] for n in range(len(rows))]


def gain(before: Judged, after: Judged, *, samples: int = 1000, seed: int = 0) -> dict[str, tuple[float, float, float]]:
    """Return by how much AUROC and ECE changed, each with a 95 % interval by paired bootstrap over the rows."""
    rng = np.random.default_rng(seed)
    picks = [range(len(before)), *rng.integers(0, len(before), (samples, len(before))).tolist()]
    changes: dict[str, list[float]] = {"AUROC": [], "ECE": []}
    for pick in picks:
        old, new = [before[n] for n in pick], [after[n] for n in pick]
        for name, figure in (("AUROC", auroc), ("ECE", calibration_error)):
            first, second = figure(old), figure(new)
            if first is not None and second is not None:
                changes[name].append(second - first)
    return {name: _interval(found) for name, found in changes.items() if found}


def _interval(found: Sequence[float]) -> tuple[float, float, float]:
    low, high = np.percentile(found, [2.5, 97.5])
    return found[0], float(low), float(high)


def standardised(rows: Sequence[Labelled], model: CalibrationModel) -> Numbers:
    """Return the features of each row in standard deviations from the model's means; an unknown one is at its mean."""
    return np.array(
        [
            [factor.standardised(row.features.get(name, factor.mean)) for name, factor in model.factors.items()]
            for row in rows
        ]
    )


def _balanced(rows: Sequence[Labelled]) -> Numbers:
    names, counts = np.unique([row.corpus for row in rows], return_counts=True)
    share = {str(name): len(rows) / len(names) / count for name, count in zip(names, counts, strict=True)}
    return np.array([share[row.corpus] for row in rows])


def labelled(pairs: Sequence[Pair], corpus: str = "") -> list[Labelled]:
    """Return the answers given, by the factors in their confidence, which have to be those of `calibrated`."""
    return [
        Labelled(row["confidence"]["factors"], is_right(case, row), corpus)
        for case, row in pairs
        if row["outcome"] == "answered" and row["confidence"]
    ]
