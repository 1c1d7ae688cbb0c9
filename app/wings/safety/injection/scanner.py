"""Text -> how likely it is an attack on the model that reads it, by the phrases of attacks in it and by its words."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from app.wings.safety.injection.addressee import orders_the_model
from app.wings.safety.injection.classifier import Classifier, packaged_classifier
from app.wings.safety.injection.folding import views
from app.wings.safety.injection.patterns import ENGLISH_ORDERS, PHRASES, Phrase

DOCUMENT_THRESHOLD = 0.7
# From which risk by phrases and classifier together a passage is hidden whose phrases also fit people.
SURE = 0.98
# How risky a question is at most without a clear order to the model.
MOST_UNCLEAR = 0.85
# How risky the order of somebody else makes a question.
REPORTED = 0.4
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
        """Return the probability that a question is an attack; none is blocked that holds no clear order to the model."""
        seen = list(views(text))
        signs = self._signs(seen)
        worded = _either(phrase.in_question if is_own else REPORTED for phrase, is_own in signs)
        if self.classifier is None:
            return worded
        learnt = self.classifier.risk(seen)
        risk = _both(learnt, worded) if signs else learnt
        return risk if any(is_own for _, is_own in signs) else min(risk, MOST_UNCLEAR)

    def document(self, text: str) -> float:
        """Return the probability that a passage or a document holds an attack.

        Where its phrases fit people as well, the classifier has to be sure that they are meant for a model.
        """
        seen = list(views(text))
        worded = _either(phrase.in_document for phrase, is_own in self._signs(seen) if is_own)
        if not 0 < worded < DOCUMENT_THRESHOLD or self.classifier is None:
            return worded
        risk = _both(self.classifier.risk(seen), worded)
        return risk if risk >= SURE else worded

    def is_suspicious(self, text: str) -> bool:
        """Return whether a passage or a document is better not shown to the model."""
        return self.document(text) >= DOCUMENT_THRESHOLD

    def _signs(self, lines: Sequence[str]) -> list[tuple[Phrase, bool]]:
        """Return the phrases in the forms of a text, each once, and whether it orders the model."""
        unwrapped = [_WRAPPED.sub(" ", view) for view in lines]
        found = ((phrase, _holds(lines if phrase.by_line else unwrapped, phrase)) for phrase in self.phrases)
        return [(phrase, is_own) for phrase, is_own in found if is_own is not None]


def _holds(views: Sequence[str], phrase: Phrase) -> bool | None:
    """Return whether the phrase orders the model in one of the forms; None if it stands in none."""
    own: bool | None = None
    for view in views:
        if _may_hold(view, phrase):
            for match in phrase.pattern.finditer(view):
                own = not phrase.is_order or orders_the_model(
                    view,
                    match,
                    is_english=phrase.name in ENGLISH_ORDERS,
                    may_be_reported=phrase.name not in {"reveal", "persona"},
                )
                if own:
                    return True
    return own


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
