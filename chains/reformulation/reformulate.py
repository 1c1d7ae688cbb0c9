"""Before stage 1. Question and history -> the query that is searched for, or what is said instead of searching."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import prompts
from chains.history import Turn, turns_of
from chains.ports import WordSimilarity
from chains.reformulation.leaning import first_pronoun, lacks_subject
from chains.reformulation.phrases import is_small_talk
from chains.reformulation.standalone import standalone
from chains.state import QUESTION_MAX_CHARACTERS, SMALL_TALK, Question, Redirect, Reformulated, check_question

UNDERSPECIFIED = "underspecified"


@dataclass(frozen=True)
class Reformulate:
    """Compute the search query of a state; thanks, greetings and questions without a subject are not searched for.

    Args:
        similarity: compares words by meaning, which tells what a new name takes the place of; None goes by form alone.
        small_talk: what thanks and greetings are answered with; by default the packaged text.
        question_back: what a question without a subject is answered with; `{missing}` is the word that needs one.
    """

    similarity: WordSimilarity | None = None
    small_talk: str = field(default_factory=partial(prompts.load, "small_talk"))
    question_back: str = field(default_factory=partial(prompts.load, "question_back"))

    def __call__(self, state: Question) -> Reformulated:
        """Return the search query, and the redirect of what is not searched for.

        Raises:
            QuestionError: the question is empty, too long or no text; or the history cannot be read.
        """
        question, turns = check_question(state.get("question")), turns_of(state.get("history"))
        query = standalone(question, turns, self.similarity)[:QUESTION_MAX_CHARACTERS]
        return Reformulated(search_query=query, scope=self._redirect(question, turns))

    def _redirect(self, question: str, turns: Sequence[Turn]) -> Redirect | None:
        if is_small_talk(question):
            return Redirect(intent=SMALL_TALK, text=self.small_talk)
        if not turns and lacks_subject(question):
            missing = first_pronoun(question)
            named = f"“{missing}”" if missing else "the question"
            return Redirect(intent=UNDERSPECIFIED, text=self.question_back.replace("{missing}", named))
        return None


def verbatim(state: Question) -> Reformulated:
    """Search for the question as it is.

    Raises:
        QuestionError: the question is empty, too long or no text; or the history cannot be read.
    """
    turns_of(state.get("history"))
    return Reformulated(search_query=check_question(state.get("question")), scope=None)
