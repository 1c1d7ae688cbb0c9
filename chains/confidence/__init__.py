"""Stage 5. Documents, citations and outcome -> how far the answer can be trusted."""

from chains.confidence.composite import CompositeConfidence
from chains.confidence.levels import ConfidenceStrategy, Thresholds, WithoutFactors, without_confidence
from chains.confidence.tiered import score_confidence

__all__ = [
    "CompositeConfidence",
    "ConfidenceStrategy",
    "Thresholds",
    "WithoutFactors",
    "score_confidence",
    "without_confidence",
]
