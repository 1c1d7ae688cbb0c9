"""Stage 5. Documents, citations and outcome -> how far the answer can be trusted."""

from chains.confidence.tiered import score_confidence

__all__ = ["score_confidence"]
