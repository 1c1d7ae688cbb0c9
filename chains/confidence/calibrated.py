"""Rate an answer by the probability that it is right, from a model fitted on questions with known answers.

The features are those by which a right answer differs from a wrong one. None knows a trade or a corpus. Few are enough:
more features overfitted.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from chains.confidence.composite import answer_quality, without_markers
from chains.confidence.levels import NEARLY, REASONS, UNKNOWN_SCORES, Thresholds, supported_share
from chains.documents.naming import place_in
from chains.errors import ConfigurationError
from chains.metadata import MATCH, MISSING, UNSURE
from chains.question import is_readable, readable
from chains.state import Cited, Confidence
from chains.text.tokens import tokens

NAMED = 2  # How many features a reason names.
NOTABLE = 0.1  # By less of the log odds a feature is not worth a reason.
SILENT = "The language model gave no answer that the documents support; these are their own words"
PARTLY = "No document says a part of it"
OPENINGS = {
    "high": "Probably right",
    "medium": "May be right; check the sources",
    "low": "Doubtful; check the sources",
    "very_low": "Probably wrong or incomplete",
}
OTHER_CASE = "A source says this, but may mean another case"
NONE_MENTIONS = "A source says this, but none mentions {words}"
UNMENTIONED = "No source mentions {words}"
READ = "Read the source before you pass it on"

VERSION = 1
# Standard deviations from the mean at which a feature is clipped.
FARTHEST = 3.0
_ASKING = re.compile(r"\b(?:how \w+|what happens|possible)\b", re.IGNORECASE)  # They name nothing.
SUREST = 700.0  # Log odds; the exponential of more is no number.


@dataclass(frozen=True, slots=True)
class Factor:
    """A feature in the model: its mean and standard deviation where it was fitted, and its weight."""

    mean: float
    scale: float
    weight: float

    def standardised(self, value: float) -> float:
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
        factors = {name: {key: round(n, 5) for key, n in asdict(one).items()} for name, one in self.factors.items()}
        kept = {"version": VERSION, "fitted_on": self.fitted_on, "intercept": round(self.intercept, 5)}
        return json.dumps({**kept, "factors": factors}, indent=2) + "\n"


def load_model(path: Path | None = None) -> CalibrationModel:
    """Return the model that `CalibrationModel.text` wrote in a file, by default the packaged one.

    Raises ConfigurationError for a file that cannot be read, that is no model, or that names an unknown feature.
    """
    name, file = (repr(str(path)), path) if path else ("'packaged'", files(__package__) / "calibrated.json")
    try:
        kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if kept["version"] != VERSION:
            raise ValueError(f"its version is {kept['version']!r}, not {VERSION}")
        factors = {key: Factor(**{part: float(n) for part, n in of.items()}) for key, of in kept["factors"].items()}
        if unknown := sorted(factors.keys() - WORDS.keys()):
            raise ValueError(f"there is no feature {unknown[0]!r}")
        numbers = [float(kept["intercept"]), *(number for one in factors.values() for number in asdict(one).values())]
        if not all(map(math.isfinite, numbers)) or any(one.scale <= 0 for one in factors.values()):
            raise ValueError("a number is not finite, or a scale is not positive")
        return CalibrationModel(numbers[0], factors, str(kept["fitted_on"]))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        msg = f"the confidence model {name} cannot be read ({reason}); check CONFIDENCE_MODEL"
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        msg = f"the confidence model {name} cannot be used ({error}); make one with `waypoint eval QUESTIONS --fit`"
    raise ConfigurationError(msg)


@dataclass(frozen=True, slots=True)
class CalibratedConfidence:
    """Scores answers by a fitted model.

    Args:
        model: the fitted model; by default the packaged one.
        thresholds: the least probability of each level.
    """

    model: CalibrationModel = field(default_factory=load_model)
    thresholds: Thresholds = field(default_factory=Thresholds)

    def __call__(self, state: Cited) -> Confidence:
        """Return the calibrated confidence; an outcome that is no answer has 0, a degraded one is never high."""
        found = features(state)
        probability = self.model.probability(found)
        if state["outcome"] == "unsure" and state["citations"]:
            score = min(probability, (self.thresholds.medium - NEARLY) * (1 - _ROOM * (1 - probability)))
            told = state["message"].response_metadata
            reasons = [REASONS["unsure"] if UNSURE in told else SILENT]
            names = ", ".join(f"“{name}”" for name in told.get(MISSING, ())) or _unmentioned(state)
            reasons += [UNMENTIONED.format(words=names)] if names else []
            return {**self.thresholds.confidence(score, ". ".join([*reasons, READ]), found), "level": "low"}
        if doubted := self.thresholds.doubted(state, probability, found):
            return doubted
        share = supported_share(state)
        reason = self._reason(share * probability, found, state)
        return self.thresholds.confidence(share * probability, f"{reason}. {PARTLY}" if share < 1 else reason, found)

    def _reason(self, probability: float, found: dict[str, float], state: Cited) -> str:
        """Return what speaks for an answer of the high level, or what does not for another, and what to do then."""
        level, (nearest, says) = self.thresholds.level(probability), WORDS["match"]
        if "match" in found and level == "medium":
            words = _unmentioned(state)
            return f"{NONE_MENTIONS.format(words=words) if words else OTHER_CASE}. {READ}"
        if "match" in found:
            return says if level == "high" else f"{nearest}. {READ}"
        shifts = self.model.shifts(found)
        largest = sorted(shifts, key=lambda name: abs(shifts[name]), reverse=True)
        named = [name for name in largest if abs(shifts[name]) >= NOTABLE and (shifts[name] > 0) == (level == "high")]
        reasons = [WORDS[name][found[name] > self.model.factors[name].mean] for name in named[:NAMED]]
        if "best_similarity" not in found:
            reasons[1:] = [UNKNOWN_SCORES]
        return ". ".join([OPENINGS[level], *reasons])


def _unmentioned(state: Cited) -> str:
    """Return the words of the question, two at most and in quotation marks, that no passage nor heading holds."""
    passages = [(passage["content"], place_in(passage["metadata"])) for passage in state["documents"]]
    held = {word.key for text, place in passages for word in tokens(f"{place['title']} {place['section']} {text}")}
    asked = tokens(_ASKING.sub("", readable(state))) if is_readable(state) else ()
    missing = [word.text for word in asked if word.weight >= 1 and word.kind != "number" and word.key not in held]
    return ", ".join(f"“{word}”" for word in dict.fromkeys(missing[:NAMED]))


WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "match": (REASONS["unsure"], "A source says this"),
    "best_similarity": ("No source is close to the question", "A source is close to the question"),
    "first_by_words": ("The sources use different terms; check them", "A source uses the terms of the question"),
    "question_in_answer": ("The answer leaves out terms of the question", "The answer uses the terms of the question"),
    "background": ("One source is more relevant than the others", "Several sources are equally relevant"),
    "answer_quality": ("The answer is brief or hedged; check the source", "The answer is clear"),
}
"""For each feature what is said of a low and of a high value."""

_ROOM = 0.15  # Below Medium, in which the likelier of two unsure answers stays ahead.


def features(state: Cited) -> dict[str, float]:
    """Return the features of an answer that are known; similarities and shares are between 0 and 1, `match` log odds.

    A model that selects statements tells itself how well they match, and has weighed the rest: similarities, terms and
    length say nothing more of a quotation. Not every retriever gives similarities.
    """
    if (probability := state["message"].response_metadata.get(MATCH, state.get("match") or None)) is not None:
        bounded = min(1 - NEARLY, max(NEARLY, probability))
        return {"match": math.log(bounded / (1 - bounded))}
    passages, matched = state["documents"], [one for one in state["citations"] if one["matched"]]
    headings = " ".join(f"{one['title']} {one['section'] or ''}" for one in matched)
    answer = without_markers(state)
    # The share of the question's words that the answer holds, each by what it carries.
    carried = {token.key: token.weight for token in tokens(readable(state)) if token.weight}
    total, held = sum(carried.values()), {token.key for token in tokens(f"{answer} {headings}")}
    share = sum(weight for key, weight in carried.items() if key in held) / total if total else 0.0
    found = {"question_in_answer": share, "answer_quality": answer_quality(answer)}
    if known := [score for passage in passages if (score := passage["score"]) is not None]:
        fused = [(one["metadata"].get("fused_score") or one["score"] or 0.0, one["score"] or 0.0) for one in passages]
        added = [rank - score for rank, score in fused]  # By the search for words.
        found |= {
            "best_similarity": max(known),
            "background": sum(known) / len(known),
            "first_by_words": added[0] - sum(added) / len(added),
        }
    return found


@dataclass(frozen=True, slots=True)
class CertifiedConfidence:
    """The calibrated confidence with a threshold that was certified on questions with known answers.

    Args:
        threshold: the certified least score of the high level.
        promise: what the high level then means, in words.
        models: the language models whose answers were certified.
        changed: returns the names of what has changed since the certification; if anything has, no answer is high.
    """

    strategy: CalibratedConfidence
    threshold: float
    promise: str
    models: frozenset[str | None]
    changed: Callable[[], Sequence[str]]

    def __call__(self, state: Cited) -> Confidence:
        """Return the calibrated confidence; its reason says what the high level means, or why it is not given."""
        changed = list(self.changed())
        if state["message"].response_metadata.get("model_name") not in self.models:
            changed.append("model")
        high = math.inf if changed else self.threshold
        thresholds = replace(self.strategy.thresholds, high=high)
        found = replace(self.strategy, thresholds=thresholds)(state)
        if found["score"] < self.threshold:
            return found
        note = f"Not certified: changed {', '.join(changed)}" if changed else f"Certified: {self.promise}"
        return {**found, "reason": f"{found['reason']}. {note}"}
