"""Ask a language model to put a question into English that is in another language than the documents."""

from collections.abc import Sequence
from typing import Any, Protocol

from langchain_core.runnables import RunnableConfig

import prompts
from chains.history import Turn
from chains.reformulation.condense import Condense, question_in
from chains.text.tokens import FEWEST_WORDS, OTHER_SCRIPT
from chains.text.words import plain_words

# A question is in a known language where such a part of its words are. Of 671 English questions two have less, of 60 in
# Indonesian, Malay, German and Chinese two have more (benchmarks.ways).
KNOWN = 0.6


class KnownWord(Protocol):
    """Says whether a word is known."""

    def __call__(self, word: str, config: RunnableConfig | None, /) -> bool:
        """Return whether it is; `config` is that of the question, and may keep documents from it."""


class Translate(Condense):
    """Asks `model` for a question in English, standing alone, where neither English nor the documents have its words.

    Args:
        model: writes the question; a low temperature and few tokens are the caller's to set.
        is_english: whether a word, in lower case, is one of English.
        is_held: whether a document that the asker may see holds it.
        prompt: the instructions, a template with `{conversation}`; by default the packaged text.
        options: those of `Condense`.
    """

    _asked = "Translate into English, and reply with nothing else: {question}"

    def __init__(
        self, model: Any, *, is_english: KnownWord, is_held: KnownWord, prompt: str | None = None, **options: Any
    ) -> None:
        super().__init__(model, prompt=prompts.load("translate") if prompt is None else prompt, **options)
        self._is_english, self._is_held = is_english, is_held

    def invoke(self, question: str, turns: Sequence[Turn], config: RunnableConfig | None = None) -> str | None:
        """Return the question in English; None where it is in a known language, or the model gave none in time."""
        if not self._is_foreign(question, config):
            return None
        return self._in_english(super().invoke(question, turns, config), config)

    async def ainvoke(self, question: str, turns: Sequence[Turn], config: RunnableConfig | None = None) -> str | None:
        """Return the same without blocking the event loop."""
        if not self._is_foreign(question, config):
            return None
        return self._in_english(await super().ainvoke(question, turns, config), config)

    def _usable(self, reply: str, question: str, turns: Sequence[Turn]) -> str | None:
        return question_in(reply)

    def _in_english(self, text: str | None, config: RunnableConfig | None) -> str | None:
        return text if text and not self._is_foreign(text, config) else None

    def _is_foreign(self, question: str, config: RunnableConfig | None) -> bool:
        words = [word for word in plain_words(question) if word.isalpha()]
        if len(words) < FEWEST_WORDS and not OTHER_SCRIPT.search(question):
            return False
        return not any(_knows(known, words, config) for known in (self._is_english, self._is_held))


def _knows(known: KnownWord, words: Sequence[str], config: RunnableConfig | None) -> bool:
    return sum(known(word, config) for word in words) >= KNOWN * len(words)
