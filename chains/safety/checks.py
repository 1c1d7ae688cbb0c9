"""The checks of a chain, each of which can be left out."""

from collections.abc import Callable
from dataclasses import dataclass

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable

from chains.safety.leaks import SystemPrompt
from chains.safety.output import CheckedAnswer
from chains.safety.screening import IsSuspicious, ScreenedContext, remembered
from chains.safety.verdict import CheckQuestion
from chains.state import Context, Contextualised, Retrieved

FormContext = Callable[[Retrieved], Context]


@dataclass(frozen=True)
class Safety:
    """What is checked, for `build_chain(safety=...)`.

    Attributes:
        question: The check of a question before anything is searched.
        prompt: The system prompt, which no answer may recite.
        guard: What the model is told before a suspicious question.
        is_suspicious: Returns whether a passage looks like an attack, and is not shown to the model; None drops none.
    """

    question: CheckQuestion
    prompt: SystemPrompt
    guard: str = ""
    is_suspicious: IsSuspicious | None = None

    def screened(self, context: FormContext) -> FormContext:
        """Return the step that makes the context, without passages that look like an attack."""
        return ScreenedContext(context, remembered(self.is_suspicious)) if self.is_suspicious else context

    def checked(self, answer: Runnable[Contextualised, BaseMessage]) -> Runnable[Contextualised, BaseMessage]:
        """Return the step that makes the message, with the message checked before it is handed on."""
        return CheckedAnswer(answer, self.prompt, self.guard)
