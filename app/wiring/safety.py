"""Build the checks of questions, passages and answers that the settings ask for."""

from functools import partial

from langchain_core.runnables import Runnable

import prompts
from app.settings import Settings
from chains.safety import CheckQuestion, CleanQuestions, Reason, Safety, SystemPrompt
from chains.state import Answer, Question

# What the fences around the documents, and the guard of a suspicious question, add to a prompt.
FENCE_TOKENS = 160


def safe_questions(settings: Settings, chain: Runnable[Question, Answer]) -> Runnable[Question, Answer]:
    """Return the chain, asked without what must not reach its logs, traces and caches."""
    return CleanQuestions(chain) if settings.safety_enabled else chain


def safety_of(settings: Settings, system: str) -> Safety | None:
    """Return what is checked; None where SAFETY_ENABLED is off. `system` is the prompt that no answer may recite."""
    if not settings.safety_enabled:
        return None
    text = partial(prompts.load, folder=settings.prompts_path)
    refusals: dict[Reason, str] = {"injection": text("blocked_injection"), "pii": text("blocked_pii")}
    spoken = (text(name) for name in ("decline", "no_results", "ungrounded"))
    return Safety(
        question=CheckQuestion(refusals=refusals),
        prompt=SystemPrompt(system, allowed=spoken),
        guard=text("guard"),
    )
