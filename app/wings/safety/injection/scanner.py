"""Text -> how likely it is an attack on the model that reads it, by the phrases of attacks in it and by its words."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from app.wings.safety.injection.classifier import Classifier, packaged_classifier
from app.wings.safety.injection.folding import views
from app.wings.safety.injection.patterns import PHRASES, Phrase

DOCUMENT_THRESHOLD = 0.7
# How risky the classifier alone makes a question: it blocks none.
MOST_LEARNT = 0.85
# What the classifier expects of a text without a phrase, and the surest that phrases make it.
NO_PHRASE, MOST_WORDED = 0.1, 0.99
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
        worded = _either(phrase.in_question for phrase in self._found(seen))
        if self.classifier is None:
            return worded
        learnt = self.classifier.risk(seen)
        return _both(learnt, worded) if worded else min(learnt, MOST_LEARNT)

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
    return any(_may_hold(view, phrase) and phrase.pattern.search(view) for view in views)


def _may_hold(view: str, phrase: Phrase) -> bool:
    if phrase.needs and not any(need in view for need in phrase.needs):
        return False
    return phrase.is_ascii or not view.isascii()


def _either(risks: Iterable[float]) -> float:
    """Return the probability that one of several independent signs is right."""
    passed = 1.0
    for risk in risks:
        passed *= 1 - risk
    return 1 - passed


def _both(learnt: float, worded: float) -> float:
    """Return the probability by the classifier and the phrases: their odds, multiplied.

    So a question that the classifier takes for harmless is answered under guard though a phrase would block it.
    """
    odds = _odds(learnt) * _odds(min(worded, MOST_WORDED)) / _odds(NO_PHRASE)
    return odds / (1 + odds)


def _odds(probability: float) -> float:
    return probability / (1 - probability)
