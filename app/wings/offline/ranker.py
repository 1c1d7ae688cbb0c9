"""Weigh the features of statements: which answers best, and how likely it answers at all."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final

import numpy as np

from app.wings.offline.matching import Matrix

STAND_INS: Final = {"score": "near", "meaning": "score"}
"""Features that may not be known, and what is taken for them then, in this order; another one is at its mean."""
AHEAD: Final = "ahead"
"""The feature that the ranker itself measures."""
FARTHEST: Final = 3.0  # A feature further away from its mean than so many standard deviations tells no more.


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature's mean and standard deviation where it was fitted, and its weights in what ranks and what answers."""

    mean: float
    scale: float
    ranks: float = 0.0
    answers: float = 0.0


@dataclass(frozen=True, slots=True)
class Ranker:
    """A linear ranker, and a logistic regression on the features of the statement that it puts first.

    `features` are by name, in the order of the columns; a question is answered from the probability `threshold` on.
    """

    features: Mapping[str, Feature]
    intercept: float
    threshold: float
    fitted_on: str

    def standardised(self, values: Matrix) -> Matrix:
        """Return the values in standard deviations from their means; an unknown one is as far as its stand-in."""
        means = np.array([feature.mean for feature in self.features.values()])
        scales = np.array([feature.scale for feature in self.features.values()])
        found, place = np.clip((values - means) / scales, -FARTHEST, FARTHEST), list(self.features).index
        for name, other in STAND_INS.items():
            known = found[..., place(name)]
            found[..., place(name)] = np.where(np.isnan(known), found[..., place(other)], known)
        return np.asarray(np.nan_to_num(found))

    def scores(self, values: Matrix) -> Matrix:
        """Return how well each statement answers, against the others of the same question; shape (statements,)."""
        return np.asarray(self.standardised(values) @ [feature.ranks for feature in self.features.values()])

    def probabilities(self, values: Matrix, left_out: Sequence[bool], agreement: Matrix | None = None) -> Matrix:
        """Return for each statement of a question the probability, 0-1, that it answers; shape (statements,).

        `agreement` is 1 where two statements say the same, else 0; none do by default.
        """
        ahead = self.with_lead(values, left_out, np.eye(len(values)) if agreement is None else agreement)
        odds = self.standardised(ahead) @ [feature.answers for feature in self.features.values()]
        return np.asarray(1 / (1 + np.exp(-(self.intercept + odds))))

    def with_lead(self, values: Matrix, left_out: Sequence[bool], agreement: Matrix) -> Matrix:
        """Return the values with the share of all that each statement has with those that say the same.

        What is left out is no rival of the rest, and an average statement is one: to be ahead of nothing says little.
        """
        shares, left, found = np.exp(self.scores(values)), np.array(left_out, dtype=bool), values.copy()
        rivals = np.where(left, shares.sum(), shares[~left].sum())
        own = np.maximum(shares, agreement @ np.where(left, 0.0, shares))
        found[:, list(self.features).index(AHEAD)] = own / (rivals + 1)
        return found


def read_ranker(text: str, names: Sequence[str]) -> Ranker:
    """Return the ranker of a file's text; ValueError if it weighs other features."""
    kept = json.loads(text)
    if tuple(kept["features"]) != tuple(names):
        msg = "the offline answerer's weights are of other features; fit them by `python -m benchmarks.fits.answerer`"
        raise ValueError(msg)
    return Ranker(**kept | {"features": {name: Feature(**found) for name, found in kept["features"].items()}})


@lru_cache(maxsize=1)
def packaged_ranker(names: tuple[str, ...]) -> Ranker:
    return read_ranker(files(__package__).joinpath("ranker.json").read_text("utf-8"), names)
