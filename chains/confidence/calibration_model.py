"""A small logistic model in a readable text file."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from chains.errors import ConfigurationError

VERSION = 1
# Standard deviations from the mean at which a feature is clipped.
FARTHEST = 3.0
SUREST = 700.0  # Log odds; the exponential of more is no number.


@dataclass(frozen=True, slots=True)
class Factor:
    """A feature in the model: its mean and standard deviation where it was fitted, and its weight."""

    mean: float
    scale: float
    weight: float

    def standardised(self, value: float) -> float:
        """Return the distance from the mean in standard deviations, at most FARTHEST."""
        return min(FARTHEST, max(-FARTHEST, (value - self.mean) / self.scale))


@dataclass(frozen=True, slots=True)
class CalibrationModel:
    """Logistic regression: the probability that an answer is right is 1 / (1 + exp(-(intercept + sum of shifts)))."""

    intercept: float
    factors: Mapping[str, Factor]
    fitted_on: str

    def shifts(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return by how much each feature that is known moves the log odds."""
        known = {name: factor for name, factor in self.factors.items() if name in values}
        return {name: factor.weight * factor.standardised(values[name]) for name, factor in known.items()}

    def probability(self, values: Mapping[str, float]) -> float:
        """Return the probability, 0-1, that an answer with these features is right."""
        log_odds = self.intercept + sum(self.shifts(values).values())
        return 1 / (1 + math.exp(-min(SUREST, max(-SUREST, log_odds))))

    def text(self) -> str:
        """Return the model as it is kept in a file."""
        rounded = {
            name: {key: round(number, 5) for key, number in asdict(factor).items()}
            for name, factor in self.factors.items()
        }
        kept = {
            "version": VERSION,
            "fitted_on": self.fitted_on,
            "intercept": round(self.intercept, 5),
            "factors": rounded,
        }
        return json.dumps(kept, indent=2) + "\n"


def read_model(text: str, name: str, known: Mapping[str, object]) -> CalibrationModel:
    """Return the model of a file's text; messages call the file by its name.

    Args:
        text: what `CalibrationModel.text` wrote.
        name: the name of the file.
        known: the names of the features there are.

    Raises:
        ConfigurationError: the text is not a model, or names an unknown feature.
    """
    try:
        kept: dict[str, Any] = json.loads(text)
        if kept["version"] != VERSION:
            raise ValueError(f"its version is {kept['version']!r}, not {VERSION}")
        factors = {key: Factor(**{part: float(n) for part, n in of.items()}) for key, of in kept["factors"].items()}
        if unknown := sorted(factors.keys() - known.keys()):
            raise ValueError(f"there is no feature {unknown[0]!r}")
        numbers = [float(kept["intercept"]), *(number for one in factors.values() for number in asdict(one).values())]
        if not all(map(math.isfinite, numbers)) or any(one.scale <= 0 for one in factors.values()):
            raise ValueError("a number is not finite, or a scale is not positive")
        return CalibrationModel(numbers[0], factors, str(kept["fitted_on"]))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        msg = f"the confidence model {name!r} cannot be used ({error}); make one with `waypoint eval QUESTIONS --fit`"
        raise ConfigurationError(msg) from error


def load_model(path: Path | None, known: Mapping[str, object]) -> CalibrationModel:
    """Return the model in a file, by default the packaged one; ConfigurationError where it is none."""
    if path is None:
        return read_model(files(__package__).joinpath("calibrated.json").read_text("utf-8"), "packaged", known)
    try:
        return read_model(path.read_text(encoding="utf-8"), str(path), known)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        msg = f"the confidence model {str(path)!r} cannot be read ({reason}); check CONFIDENCE_MODEL"
        raise ConfigurationError(msg) from error
