"""Check a question before anything is searched, and refuse a blocked one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from chains.blocking import SafetyVerdict
from chains.question import question_of
from chains.safety.leaks import canary_of
from chains.state import Question

Reason = Literal["injection", "pii", "moderation"]
Action = Literal["none", "guarded", "blocked"]


@dataclass(frozen=True)
class RiskThresholds:
    """The probabilities of an attack from which a question is guarded, and from which it is blocked."""

    guard: float
    block: float

    def action(self, risk: float) -> Action:
        """Return the action for a question of this risk."""
        if risk >= self.block:
            return "blocked"
        return "guarded" if risk >= self.guard else "none"


@dataclass(frozen=True)
class CheckQuestion:
    """Compute the verdict on a question.

    Args:
        refusals: the reply to a blocked question, by reason.
        risk: returns how likely a text is an attack, 0 to 1; None looks for none.
        thresholds: from which risk it is guarded or blocked.
        block_pii: whether a question with personal data is refused.
    """

    refusals: Mapping[Reason, str]
    risk: Callable[[str], float] | None = None
    thresholds: RiskThresholds = RiskThresholds(0.5, 0.9)
    block_pii: bool = False

    def __call__(self, state: Question) -> SafetyVerdict:
        """Return the verdict.

        Raises:
            QuestionError: the question is empty, too long, or no text.
        """
        question = question_of(state)
        redacted = list(state.get("redacted") or [])
        risk = self.risk(question) if self.risk else 0.0
        action: Action = self.thresholds.action(risk)
        reason: Reason | None = None if action == "none" else "injection"
        if redacted and self.block_pii:
            action, reason = "blocked", "pii"
        return SafetyVerdict(
            action=action,
            reason=reason,
            refusal=self.refusals[reason] if reason and action == "blocked" else None,
            redacted=redacted,
            injection=round(risk, 4),
            canary=canary_of(question),
        )
