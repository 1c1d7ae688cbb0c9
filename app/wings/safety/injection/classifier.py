"""A text -> how likely it is an attack, by a logistic model of its words and their classes, kept in a text file."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from app.wings.safety.injection.features import Sentence, features, stretches

VERSION = 1


@dataclass(frozen=True, slots=True)
class Classifier:
    """Logistic regression over the features of a stretch of text; a text is as risky as its riskiest stretch.

    Attributes:
        intercept: The log odds of a stretch without any known feature.
        weights: By how much each feature moves the log odds.
        fitted_on: What the weights were fitted on, in words.
    """

    intercept: float
    weights: Mapping[str, float]
    fitted_on: str = ""

    def risk(self, views: Iterable[str]) -> float:
        """Return the probability that a text is an attack, from its folded forms."""
        found = [self.intercept, *(self._log_odds(stretch) for view in views for stretch in stretches(view))]
        return 1 / (1 + math.exp(-max(found)))

    def _log_odds(self, stretch: list[Sentence]) -> float:
        return self.intercept + sum(self.weights.get(feature, 0.0) for feature in features(stretch))

    def text(self) -> str:
        """Return the classifier as it is kept in a file."""
        weights = {name: round(weight, 3) for name, weight in sorted(self.weights.items())}
        kept = {"version": VERSION, "fitted_on": self.fitted_on, "intercept": round(self.intercept, 3)}
        return json.dumps(kept | {"weights": weights}, indent=1, ensure_ascii=False) + "\n"


def read_classifier(text: str) -> Classifier:
    """Return the classifier of a file's text.

    Raises:
        ValueError: the file is of another version.
    """
    kept = json.loads(text)
    if kept["version"] != VERSION:
        msg = f"the version of the injection classifier is {kept['version']!r}, not {VERSION}"
        raise ValueError(msg)
    return Classifier(kept["intercept"], kept["weights"], kept["fitted_on"])


@cache
def packaged_classifier() -> Classifier:
    """Return the classifier that comes with this package."""
    return read_classifier(files(__package__).joinpath("classifier.json").read_text("utf-8"))
