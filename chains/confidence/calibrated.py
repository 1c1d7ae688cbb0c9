"""Rate an answer by the probability that it is right, from a model fitted on questions with known answers."""

from dataclasses import dataclass, field

from chains.confidence.answer_features import WORDS, features
from chains.confidence.calibration_model import CalibrationModel, load_model
from chains.confidence.levels import (
    DEGRADED_SHARE,
    NO_MATCH,
    REASONS,
    UNKNOWN_SCORES,
    Thresholds,
    disagreement_of,
    supported_share,
)
from chains.metadata import degradation_of
from chains.state import Cited, Confidence

NAMED = 2  # How many features a reason names.
PARTLY = "No document says a part of it"
OPENINGS = {
    "high": "Probably right",
    "medium": "May be right; check the sources",
    "low": "Doubtful; check the sources",
    "very_low": "Probably wrong or incomplete",
}


@dataclass(frozen=True, slots=True)
class CalibratedConfidence:
    """Scores answers by a fitted model.

    Args:
        model: the fitted model; by default the packaged one.
        thresholds: the least probability of each level.
    """

    model: CalibrationModel = field(default_factory=lambda: load_model(None, WORDS))
    thresholds: Thresholds = field(default_factory=Thresholds)

    def __call__(self, state: Cited) -> Confidence:
        """Return the calibrated confidence; an outcome that is no answer has 0, a degraded one is never high."""
        outcome, found = state["outcome"], features(state)
        if outcome in REASONS:
            return self._confidence(0.0, REASONS[outcome], found)
        probability = self.model.probability(found)
        if outcome == "degraded":
            reason = degradation_of(state["message"]) or REASONS["ungrounded"]
            return self._confidence(DEGRADED_SHARE * probability, reason, found)
        if not any(citation["matched"] for citation in state["citations"]):
            return self._confidence(DEGRADED_SHARE * probability, NO_MATCH, found)
        if disagreement := disagreement_of(state):
            return self._confidence(self.thresholds.disputed(probability), disagreement, found)
        share = supported_share(state)
        reason = self._reason(share * probability, found)
        return self._confidence(share * probability, f"{reason}. {PARTLY}" if share < 1 else reason, found)

    def _reason(self, probability: float, found: dict[str, float]) -> str:
        """Return the level in words, and the features that moved it most."""
        shifts = self.model.shifts(found)
        largest = sorted(shifts, key=lambda name: abs(shifts[name]), reverse=True)[:NAMED]
        reasons = [WORDS[name][self._is_above(name, found)] for name in largest]
        if "best_similarity" not in found:
            reasons[1:] = [UNKNOWN_SCORES]
        return ". ".join([OPENINGS[self.thresholds.level(probability)], *reasons])

    def _is_above(self, name: str, found: dict[str, float]) -> bool:
        return found[name] > self.model.factors[name].mean

    def _confidence(self, score: float, reason: str, found: dict[str, float]) -> Confidence:
        rounded = {name: round(value, 4) for name, value in found.items()}
        return Confidence(level=self.thresholds.level(score), score=round(score, 4), reason=reason, factors=rounded)
