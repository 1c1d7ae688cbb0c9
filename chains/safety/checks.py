"""The checks of a chain, each of which can be left out."""

from dataclasses import dataclass

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable

from chains.safety.leaks import SystemPrompt
from chains.safety.output import CheckedAnswer
from chains.safety.verdict import CheckQuestion
from chains.state import Contextualised


@dataclass(frozen=True)
class Safety:
    """What is checked, for `build_chain(safety=...)`.

    Attributes:
        question: The check of a question before anything is searched.
        prompt: The system prompt, which no answer may recite.
        guard: What the model is told before a suspicious question.
    """

    question: CheckQuestion
    prompt: SystemPrompt
    guard: str = ""

    def checked(self, answer: Runnable[Contextualised, BaseMessage]) -> Runnable[Contextualised, BaseMessage]:
        """Return the step that makes the message, with the message checked before it is handed on."""
        return CheckedAnswer(answer, self.prompt, self.guard)
