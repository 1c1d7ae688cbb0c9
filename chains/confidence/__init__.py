"""Stage 5: rate how far the answer can be trusted."""

from chains.confidence.calibrated import (
    WORDS,
    CalibratedConfidence,
    CalibrationModel,
    CertifiedConfidence,
    features,
    load_model,
)
from chains.confidence.composite import CompositeConfidence
from chains.confidence.levels import (
    ConfidenceStrategy,
    RateAnswers,
    Thresholds,
    WithoutFactors,
    score_confidence,
    without_confidence,
)

__all__ = [
    "WORDS",
    "CalibratedConfidence",
    "CalibrationModel",
    "CertifiedConfidence",
    "CompositeConfidence",
    "ConfidenceStrategy",
    "RateAnswers",
    "Thresholds",
    "WithoutFactors",
    "features",
    "load_model",
    "score_confidence",
    "without_confidence",
]
