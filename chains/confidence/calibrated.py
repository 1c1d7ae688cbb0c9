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
from chains.documents.versions import is_in_force
from chains.errors import ConfigurationError
from chains.metadata import MATCH, MISSING, UNSAID, UNSURE
from chains.question import is_readable, readable
from chains.state import Cited, Confidence
from chains.text.tokens import tokens

SILENT = "The language model gave no answer that the documents support; these are their own words"
PARTLY = "No document says a part of it"
REPLACED = "Only a document that is not in force says this"
UNMENTIONED, UNSAID_BESIDE = "No source mentions {words}", "This passage does not mention {words}"
READ = "Read the source before you pass it on"
OPENINGS = {
    "high": ("Probably right", "A source says this"),
    "medium": ("May be right", "A source says this, but may mean another case"),
    "low": ("Doubtful", REASONS["unsure"]),
    "very_low": ("Probably wrong or incomplete", REASONS["unsure"]),
}
"""For each level what is said of a model's answer, and of a quotation and what one bears out."""
_ASKING: Final = re.compile(r"\b(?:how \w+|what happens|possible)\b", re.IGNORECASE)  # They name nothing.
_ROOM: Final = 0.15  # Below Medium, in which the likelier of two unsure answers stays ahead.

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
        return min(FARTHEST, max(-FARTHEST, (value - self.mean) / self.scale))


@dataclass(frozen=True, slots=True)
class CalibrationModel:
    """Logistic regression: an answer is right with probability 1 / (1 + exp(-(intercept + weighted features)))."""

    intercept: float
    factors: Mapping[str, Factor]
    fitted_on: str

    def probability(self, values: Mapping[str, float]) -> float:
        """Return the probability, 0-1, that an answer with these features is right; unknown ones move nothing."""
        known = [(factor, values[name]) for name, factor in self.factors.items() if name in values]
        log_odds = self.intercept + sum(factor.weight * factor.standardised(value) for factor, value in known)
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
        if unknown := sorted(factors.keys() - (load_model().factors if path else factors).keys()):
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
    """Scores answers by a fitted model, by default the packaged one; its thresholds are probabilities."""

    model: CalibrationModel = field(default_factory=load_model)
    thresholds: Thresholds = field(default_factory=Thresholds)

    def __call__(self, state: Cited) -> Confidence:
        """Return the calibrated confidence; an outcome that is no answer has 0, a degraded one is never high."""
        found = features(state)
        probability = self.model.probability(found)
        if state["outcome"] == "unsure" and state["citations"]:
            score = min(probability, (self.thresholds.medium - NEARLY) * (1 - _ROOM * (1 - probability)))
            opening = REASONS["unsure"] if UNSURE in state["message"].response_metadata else SILENT
            if not any(is_in_force(one["title"]) for one in state["citations"] if one["matched"]):
                opening = REPLACED
            reason = ". ".join([opening, *_unmentioned(state), READ])
            return {**self.thresholds.confidence(score, reason, found), "level": "low"}
        if doubted := self.thresholds.doubted(state, probability, found):
            unmentioned = _unmentioned(state) if state["outcome"] == "declined" else []
            return {**doubted, "reason": ". ".join([doubted["reason"], *unmentioned])}
        share = supported_share(state)
        level = self.thresholds.level(share * probability)
        unknown = [UNKNOWN_SCORES] if found.keys().isdisjoint({"best_similarity", "match"}) else []
        partly = [PARTLY] if share < 1 else []
        doubts = [] if level == "high" else [*_unmentioned(state), READ]
        reason = ". ".join([OPENINGS[level]["match" in found], *unknown, *partly, *doubts])
        return self.thresholds.confidence(share * probability, reason, found)


def _unmentioned(state: Cited) -> list[str]:
    """Return which names or other words of the question, two at most, no passage holds, else not that of the answer."""
    names = state["message"].response_metadata.get(MISSING)
    if names is None and is_readable(state):
        passages = [(place_in(passage["metadata"]), passage["content"]) for passage in state["documents"]]
        held = {word.key for place, text in passages for word in tokens(f"{place['title']} {place['section']} {text}")}
        asked = [word for word in tokens(_ASKING.sub("", readable(state))) if word.weight >= 1 and word.key not in held]
        names = [word.text for word in asked if word.kind != "number"]
    unsaid = [] if names else state["message"].response_metadata.get(UNSAID, [])
    reasons = ((UNMENTIONED, names or []), (UNSAID_BESIDE, unsaid))
    return [reason.format(words=", ".join(f"“{word}”" for word in words[:2])) for reason, words in reasons if words]


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
