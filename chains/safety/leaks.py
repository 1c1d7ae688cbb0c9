"""Detect an answer that recites the system prompt or the canary in it."""

import re
from collections import deque
from collections.abc import Iterable

RECITED_WORDS = 16  # So many words in a row are no chance. Sentences that the prompt asks for are not counted.
_WORD = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r'"[^"]*"')


class SystemPrompt:
    """Knows the runs of words of a system prompt that no answer may hold."""

    def __init__(self, text: str, *, allowed: Iterable[str] = ()) -> None:
        words = _words(_QUOTED.sub(" ", text))
        permitted = {run for sentence in allowed for run in _runs(_words(sentence))}
        self.runs = frozenset(_runs(words)) - permitted


class LeakWatch:
    """Reads an answer as it comes.

    Attributes:
        leaked: Whether a run of the prompt's words, or the canary, has come.
    """

    def __init__(self, prompt: SystemPrompt | None, canary: str) -> None:
        self._prompt = prompt
        self._canary = canary
        self._last: deque[str] = deque(maxlen=RECITED_WORDS)
        self.leaked = False

    def feed(self, words: str) -> bool:
        """Take whole words, and return whether the answer leaks by now."""
        for word in _words(words):
            self._last.append(word)
            if self._canary and self._canary in word:
                self.leaked = True
            if self._prompt and len(self._last) == RECITED_WORDS and tuple(self._last) in self._prompt.runs:
                self.leaked = True
        return self.leaked


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _runs(words: list[str]) -> Iterable[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(RECITED_WORDS)), strict=False)
