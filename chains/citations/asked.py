"""What of a statement only repeats the question, and what it adds."""

from dataclasses import dataclass
from functools import lru_cache

from chains.text.tokens import Token, tokens
from chains.text.words import word_set

_YES_OR_NO = word_set("yes no")
_ADDS = 0.6  # The weight from which a word says something: a verb does, "several" does not.


@dataclass(frozen=True, slots=True)
class Asked:
    """The words of a question: all content words, and the names among them."""

    text: str
    words: tuple[Token, ...]
    names: frozenset[str]

    @property
    def repeatable(self) -> frozenset[str]:
        """Return the keys of words that a statement may repeat without saying anything.

        Names are not among them: another country or carrier is another answer.
        """
        return frozenset(word.key for word in self.words) - self.names

    def is_echoed_by(self, sentence: str) -> bool:
        """Return whether the sentence says nothing beyond the question, as "Yes, ..." and its words do."""
        known = {word.key for word in self.words}
        added = (word for word in tokens(sentence) if word.weight >= _ADDS and word.key not in known)
        return bool(known) and all(word.text.lower() in _YES_OR_NO for word in added)


NOTHING_ASKED = Asked("", (), frozenset())


@lru_cache(maxsize=64)
def asked(question: str) -> Asked:
    """Return the words of a question."""
    words = tuple(word for word in tokens(question) if word.weight > 0)
    return Asked(question, words, frozenset(word.key for word in words if word.kind == "name"))
