"""Give the high level by a certified threshold, and never where the certificate does not hold."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from chains.confidence.calibrated import CalibratedConfidence
from chains.state import Cited, Confidence


@dataclass(frozen=True, slots=True)
class CertifiedConfidence:
    """The calibrated confidence with a threshold that was certified on questions with known answers.

    Args:
        strategy: what scores the answers.
        threshold: the certified least score of the high level.
        promise: what the high level then means, in words.
        models: the language models whose answers were certified.
        changed: returns the names of what is no longer as it was certified; then nothing is high.
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
        told = f"Not certified: changed {', '.join(changed)}" if changed else f"Certified: {self.promise}"
        return {**found, "reason": f"{found['reason']}. {told}"}
