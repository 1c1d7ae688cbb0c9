"""The checks of a chain, each of which can be left out."""

from dataclasses import dataclass
from functools import cached_property

from chains.safety.moderation import Moderate
from chains.safety.output_check import OutputCheck, SystemPrompt, protected
from chains.safety.screening import CheckQuestion, IsSuspicious, Screen, remembered
from chains.state import Contextualised


@dataclass(frozen=True)
class Safety:
    """What is checked, for `build_chain(safety=...)`.

    Attributes:
        question: The check of a question before anything is searched.
        prompt: The system prompt, which no answer may recite.
        guard: The system message before a suspicious question.
        is_suspicious: Returns whether a passage looks like an attack, and is not shown; None drops none.
        moderate: Asks a moderator whether the question may be answered, while passages are retrieved; None asks none.
    """

    question: CheckQuestion
    prompt: SystemPrompt
    guard: str = ""
    is_suspicious: IsSuspicious | None = None
    moderate: Moderate | None = None

    @cached_property
    def screen(self) -> Screen:
        """Return what tells the passages that may go on."""
        return Screen(remembered(self.is_suspicious) if self.is_suspicious else None)

    def output_check(self, state: Contextualised) -> OutputCheck:
        """Return the check of one answer's words."""
        verdict = state.get("safety")
        return OutputCheck(state["context"]["passages"], self.prompt, verdict["canary"] if verdict else "")

    def fenced(self, state: Contextualised) -> Contextualised:
        """Return the state with its documents fenced, and for a suspicious question the guard before it."""
        return protected(state, self.guard)
