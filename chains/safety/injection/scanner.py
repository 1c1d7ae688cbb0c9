"""Text -> how likely it is an attack on the model that reads it, by the phrases of attacks in it and by its words."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from chains.safety.injection.classifier import Classifier, packaged_classifier
from chains.safety.injection.folding import views
from chains.safety.injection.patterns import PHRASES, Phrase

DOCUMENT_THRESHOLD = 0.7
# The classifier alone guards a question; only a phrase, alone or with it, blocks one.
MOST_CLASSIFIED = 0.85
_WRAPPED = re.compile(r"(?<=\S)[ \t]*\n[ \t]*(?=\S)")


@dataclass(frozen=True)
class Scanner:
    """Scans questions and documents for attacks, also where they are disguised.

    Attributes:
        phrases: What an attack is worded like.
        classifier: Knows attacks that hold no such phrase, in questions; None leaves it to the phrases.
    """

    phrases: tuple[Phrase, ...] = PHRASES
    classifier: Classifier | None = field(default_factory=packaged_classifier)

    def question(self, text: str) -> float:
        """Return the probability that a question is an attack."""
        seen = list(views(text))
        learnt = min(MOST_CLASSIFIED, self.classifier.risk(seen)) if self.classifier else 0.0
        return _either([learnt, *(phrase.in_question for phrase in self._found(seen))])

    def document(self, text: str) -> float:
        """Return the probability that a passage or a document holds an attack."""
        return _either(phrase.in_document for phrase in self._found(list(views(text))))

    def is_suspicious(self, text: str) -> bool:
        """Return whether a passage or a document is better not shown to the model."""
        return self.document(text) >= DOCUMENT_THRESHOLD

    def _found(self, lines: Sequence[str]) -> Sequence[Phrase]:
        """Return the phrases in the forms of a text, each once, whatever it is disguised as."""
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
