"""Tell a question in another language than the documents, and ask a language model to put it into English."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import run_in_executor

import prompts
from chains.history import Turn
from chains.reformulation.condense import Condense, question_in
from chains.text.tokens import FEWEST_WORDS, OTHER_SCRIPT
from chains.text.words import plain_words

# A question is in a language where such a part of its words are. Of the 808 English questions of `benchmarks.ways` none
# is taken for another language, of the 60 in Indonesian, Malay, German and Chinese two for English.
KNOWN = 0.6


HeldWord = Callable[[str, RunnableConfig | None], bool]
"""Says whether a document holds a word that the asker may see; the question's config may keep documents from it."""


class Foreign:
    """Says whether a question is in another language than English and the documents, by its words.

    Args:
        is_english: whether a word, in lower case, is one of English.
        is_held: whether a document that the asker may see holds it.
    """

    def __init__(self, *, is_english: Callable[[str], bool], is_held: HeldWord) -> None:
        self._is_english, self._is_held = is_english, is_held

    def __call__(self, question: str, config: RunnableConfig | None = None) -> bool:
        """Return whether it is; fewer than three words may be names."""
        if self.reads_english(question):
            return False
        words = _words(question)
        return sum(self._is_held(word, config) for word in words) < KNOWN * len(words)

    async def acall(self, question: str, config: RunnableConfig | None = None) -> bool:
        return not self.reads_english(question) and await run_in_executor(config, self, question, config)

    def reads_english(self, question: str) -> bool:
        """Return whether it may be English."""
        words = _words(question)
        few = len(words) < FEWEST_WORDS and not OTHER_SCRIPT.search(question)
        return few or sum(map(self._is_english, words)) >= KNOWN * len(words)


class Translate(Condense):
    """Asks `model` for a question in English.

    Args:
        model: writes the question; a low temperature and few tokens are the caller's to set.
        is_foreign: rejects a reply that is still in the other language.
        prompt: the instructions, a template with `{conversation}`; by default the packaged text.
        options: those of `Condense`.
    """

    _asked = "Translate into English, and reply with nothing else: {question}"

    def __init__(
        self,
        model: Runnable[LanguageModelInput, BaseMessage],
        *,
        is_foreign: Foreign,
        prompt: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(model, prompt=prompts.load("translate") if prompt is None else prompt, **options)
        self._is_foreign = is_foreign

    def usable(self, reply: str, question: str, turns: Sequence[Turn]) -> str | None:
        """Return the reply as a question; None where it is not in English."""
        text = question_in(reply)
        return text if text and self._is_foreign.reads_english(text) else None


def _words(question: str) -> list[str]:
    return [word for word in plain_words(question) if word.isalpha()]
