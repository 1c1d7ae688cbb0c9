"""Names for confidence scores, and what every strategy says of an answer that did not come from the documents."""

from collections.abc import Callable
from dataclasses import dataclass

from chains.errors import ConfigurationError
from chains.state import Cited, Confidence, Outcome

UNKNOWN_SCORES = "The retriever gives no relevance scores"
NO_MATCH = "No citation could be matched to a source"
# Share of the score that is kept where the language model was unreachable or broke off.
DEGRADED_SHARE = 0.5

REASONS: dict[Outcome, str] = {
    "no_results": "No relevant documents found",
    "unsure": "No source answers this directly",
    "declined": "No source answers this reliably",
    "ungrounded": "The answer could not be tied to the documents",
    "blocked": "The question was blocked",
}
"""The reason for each outcome that is no answer from the documents."""


ConfidenceStrategy = Callable[[Cited], Confidence]
"""Stage 5 of the pipeline: what returns the confidence of the answer in the state."""

UNRATED: frozenset[Outcome] = frozenset({"small_talk", "question_back", "redirected"})
"""The outcomes that answer nothing from documents, nor should: there is no confidence to have."""


@dataclass(frozen=True, slots=True)
class RateAnswers:
    """Rates by the strategy what is meant to be an answer from the documents."""

    strategy: ConfidenceStrategy

    def __call__(self, state: Cited) -> Confidence | None:
        """Return the confidence; None for small talk, a question back and a redirection."""
        return None if state["outcome"] in UNRATED else self.strategy(state)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The least score, 0-1, of each level but `very_low`.

    Raises:
        ConfigurationError: they are not in order, or not between 0 and 1.
    """

    low: float = 0.4
    medium: float = 0.6
    high: float = 0.8

    def __post_init__(self) -> None:
        if not 0 <= self.low < self.medium < self.high <= 1:
            msg = f"the thresholds must be in order, 0 <= low < medium < high <= 1, not {self}"
            raise ConfigurationError(msg)

    def level(self, score: float) -> str:
        """Return `high`, `medium`, `low` or `very_low`."""
        bounds = (("high", self.high), ("medium", self.medium), ("low", self.low))
        return next((name for name, least in bounds if score >= least), "very_low")


def without_confidence(_: Cited) -> Confidence:
    """Return what stands in an answer where confidence is turned off."""
    return Confidence(level="unknown", score=0.0, reason="Confidence is turned off", factors={})


@dataclass(frozen=True, slots=True)
class WithoutFactors:
    """A strategy that keeps its factors to itself."""

    strategy: ConfidenceStrategy

    def __call__(self, state: Cited) -> Confidence:
        """Return the confidence without factors."""
        return {**self.strategy(state), "factors": {}}
