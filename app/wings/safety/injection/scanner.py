"""Text -> how likely it is an attack on the model that reads it, by the phrases of attacks in it and by its words."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from app.wings.safety.injection.classifier import Classifier, packaged_classifier
from app.wings.safety.injection.folding import views
from app.wings.safety.injection.phrases import PHRASES, Phrase, orders_the_model

DOCUMENT_THRESHOLD = 0.7
# From which risk by phrases and classifier together a passage is hidden whose phrases also fit people.
SURE = 0.99
# How risky a question is at most without a clear order to the model.
MOST_UNCLEAR = 0.85
# How risky the order of somebody else makes a question.
REPORTED = 0.4
# What the classifier expects of a text without a phrase, and the surest that phrases make it.
NO_PHRASE, MOST_WORDED = 0.1, 0.99
_WRAPPED = re.compile(r"(?<=\S)[ \t]*\n[ \t]*(?=\S)")


class Sign(NamedTuple):
    """A phrase in a text, its words there, and whether they order the model."""

    phrase: Phrase
    is_own: bool
    words: str


@dataclass(frozen=True)
class Scanner:
    """Scans questions and documents for attacks, also where they are disguised.

    The classifier knows attacks in questions that hold no phrase; None leaves it to the phrases.
    """

    phrases: tuple[Phrase, ...] = PHRASES
    classifier: Classifier | None = field(default_factory=packaged_classifier)

    def question(self, text: str) -> float:
        """Return the probability that a question is an attack; no clear order to the model, and it is not blocked."""
        seen = list(views(text))
        signs = self._signs(seen)
        worded = _either(sign.phrase.in_question if sign.is_own else REPORTED for sign in signs)
        if self.classifier is None:
            return worded
        learnt = self.classifier.risk(seen)
        risk = _both(learnt, worded) if signs else learnt
        return risk if any(sign.is_own for sign in signs) else min(risk, MOST_UNCLEAR)

    def is_suspicious(self, text: str) -> bool:
        return bool(self.suspicious_words(text))

    def suspicious_words(self, text: str) -> str:
        """Return the words for which a passage or a document is better not shown to the model; empty if it may be."""
        risk, words = self.document(text)
        return words if risk >= DOCUMENT_THRESHOLD else ""

    def document(self, text: str) -> tuple[float, str]:
        """Return how likely a passage or a document holds an attack, and the words that say so most clearly.

        Where its phrases fit people as well, the classifier has to be sure that they are meant for a model.
        """
        seen = list(views(text))
        signs = [sign for sign in self._signs(seen) if sign.is_own]
        words = max(signs, key=lambda sign: sign.phrase.in_document).words if signs else ""
        worded = _either(sign.phrase.in_document for sign in signs)
        if 0 < worded < DOCUMENT_THRESHOLD and self.classifier:
            risk = _both(self.classifier.risk(seen), worded)
            return (risk if risk >= SURE else worded), words
        return worded, words

    def _signs(self, lines: Sequence[str]) -> list[Sign]:
        """Return the phrases in the forms of a text, each once, and whether it orders the model."""
        unwrapped = [_WRAPPED.sub(" ", view) for view in lines]
        signs = (_sign(lines if phrase.by_line else unwrapped, phrase) for phrase in self.phrases)
        return [sign for sign in signs if sign]


def _sign(views: Sequence[str], phrase: Phrase) -> Sign | None:
    """Return the phrase in one of the forms, where it orders the model if there is such a place."""
    sign: Sign | None = None
    for view in views:
        may_hold = not phrase.needs or any(need in view for need in phrase.needs)
        if not may_hold or (view.isascii() and not phrase.is_ascii):
            continue
        for match in phrase.pattern.finditer(view):
            sign = Sign(phrase, not phrase.is_order or orders_the_model(view, match, phrase), match[0].strip())
            if sign.is_own:
                return sign
    return sign


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
