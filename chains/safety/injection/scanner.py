"""Text -> how likely it is an attack on the model that reads it, by the phrases of attacks in it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chains.safety.injection.folding import views
from chains.safety.injection.patterns import PHRASES, Phrase

DOCUMENT_THRESHOLD = 0.7
_WRAPPED = re.compile(r"(?<=\S)[ \t]*\n[ \t]*(?=\S)")


@dataclass(frozen=True)
class Scanner:
    """Scans questions and documents for phrases of attacks, also where they are disguised.

    Attributes:
        phrases: What an attack is worded like.
    """

    phrases: tuple[Phrase, ...] = PHRASES

    def question(self, text: str) -> float:
        """Return the probability that a question is an attack."""
        return _either(phrase.in_question for phrase in self.found(text))

    def document(self, text: str) -> float:
        """Return the probability that a passage or a document holds an attack."""
        return _either(phrase.in_document for phrase in self.found(text))

    def is_suspicious(self, text: str) -> bool:
        """Return whether a passage or a document is better not shown to the model."""
        return self.document(text) >= DOCUMENT_THRESHOLD

    def found(self, text: str) -> Sequence[Phrase]:
        """Return the phrases in a text, each once, whatever it is disguised as."""
        lines = list(views(text))
        unwrapped = [_WRAPPED.sub(" ", view) for view in lines]
        return [phrase for phrase in self.phrases if _holds(lines if phrase.by_line else unwrapped, phrase)]


def _holds(views: Sequence[str], phrase: Phrase) -> bool:
    return any((phrase.is_ascii or not view.isascii()) and phrase.pattern.search(view) for view in views)


def _either(risks: Iterable[float]) -> float:
    """Return the probability that one of several independent signs is right."""
    passed = 1.0
    for risk in risks:
        passed *= 1 - risk
    return 1 - passed
