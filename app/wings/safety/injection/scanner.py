"""Text -> how likely it is an attack on the model that reads it, by the phrases of attacks in it and by its words.

`phrases.txt` says how a phrase is written. "Ignore all previous instructions" orders the model. "The customer says to
ignore the previous instructions" reports an order, and "Forget the previous booking instructions" is about the work of
whoever asks.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import NamedTuple

from app.wings.safety.injection.classifier import Classifier, class_of, packaged_classifier
from app.wings.safety.injection.folding import views
from chains.text.pattern_file import read_patterns
from chains.text.words import word_set


class Phrase(NamedTuple):
    """How an attack is worded, and how likely a text that holds it is one: in a question, and in a document."""

    name: str
    pattern: re.Pattern[str]
    in_question: float
    in_document: float
    is_ascii: bool  # Whether an ASCII text can hold it.
    needs: tuple[str, ...]  # One of these stands in whatever it finds, and is quick to look for.
    is_order: bool  # Whether it counts only where it is meant for the model.
    by_line: bool  # Whether it matters where a line begins; else a line end in a sentence is a blank.


ENGLISH_ORDERS = {"override", "reveal", "persona"}
_BY_LINE = {"role", "new rules"}
_OTHER_SCRIPTS = {"zh", "ja ko", "ar hi th"}


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFKD", text)))


def _phrase(head: str, pattern: str) -> Phrase:
    name, question, document, needs = head.split(";")
    order, name = name.endswith("!"), name.rstrip("!")
    words = tuple(_plain(needs).split("|")) if needs else ()
    kinds = name not in _OTHER_SCRIPTS, words, order, name in _BY_LINE
    return Phrase(name, re.compile(_plain(pattern)), float(question), float(document), *kinds)


PHRASES = tuple(_phrase(*block) for block in read_patterns(__package__, "phrases.txt")[1])

# Of a prompt or of rules that are "yours" only a model is asked.
MODELS_BY_NATURE = frozenset({"reveal", "persona"})
LOOK_BACK, LOOK_AHEAD = 300, 60
_SENTENCE_END = re.compile(r"[.!?\n。！？।]")
_QUOTED = re.compile(r"(.*\S)\s*[\"'“”„«‘`]\W*(?:please |kindly )?\Z", re.DOTALL)
_CLAUSE_END = re.compile(r".*(?:[,:;]| (?:und|et|y|e|dan|en) )", re.DOTALL)
_WORD = re.compile(r"[a-z]{2,}")
_TEXTS = dict(read_patterns(__package__, "orders.txt")[1])
_REPORTED, _SCOPE = re.compile(_TEXTS["REPORTED"]), re.compile(_TEXTS["SCOPE"])
_SOMEBODY, _PLAIN, _OF_A_MODEL = (word_set(_TEXTS[name]) for name in ("SOMEBODY", "PLAIN", "OF_A_MODEL"))
SHORT = 3  # Shorter words say nothing of what an order is about.
_READER = frozenset({"ADMIN", "AI", "EARLIER", "ME", "NOW", "PROMPT", "SYSTEM", "YOU", "YOUR"})
# The end of a quotation, and one question on it, with which the text ends.
_ASKED_ABOUT = re.compile(
    r"[^\"'“”„«»’?]*[\"'”»’][.,)]*\s+((?:(?:is|was|could|can) (?:it|this|that)"
    r"|(?:(?:what|whom?|how|where) )?(?:should|do|can|may|must) (?:i|we))\b[^.!?\n]*)\?\W*\Z"
)
_OF_A_PROMPT = frozenset({"ADMIN", "AI", "PROMPT", "RULE", "SYSTEM", "YOU", "YOUR"})
_FOLLOWING = re.compile(r"\A +(?:(?:the|an?|our|its) )?([a-z]{3,})")


def orders_the_model(text: str, match: re.Match[str], phrase: Phrase) -> bool:
    """Return whether the order that a phrase matched is meant for the model, by the words before, in and behind it."""
    words = _WORD.findall(match[0])
    classes = [class_of(word) for word in words]
    is_models_own = "YOUR" in classes or "PROMPT" in classes
    if phrase.name in MODELS_BY_NATURE and (is_models_own or classes[:1] in (["YOU"], ["AI"])):
        return not _is_asked_about(text, match)
    before = _SENTENCE_END.split(text[max(0, match.start() - LOOK_BACK) : match.start()])[-1]
    introduction = _QUOTED.match(before)
    is_quoted = introduction is not None and not all(map(_is_of_an_order, _WORD.findall(introduction[1])))
    if _REPORTED.search(before) or is_quoted:
        return False
    clause = _CLAUSE_END.sub("", before).split() if phrase.name not in ENGLISH_ORDERS else ()
    if any(word in _SOMEBODY or (class_of(word) == "ASK" and word != "puis") for word in clause):
        return False
    behind = text[match.end() : match.end() + LOOK_AHEAD]
    if classes[-1:] == ["EARLIER"] and (following := _FOLLOWING.match(behind)):
        words.append(following[1])
        behind = behind[following.end() :]
    is_object = words and (words[-1] == "information" or class_of(words[-1]) in {"EARLIER", "NOTE", "RULE"})
    if is_models_own or not is_object:
        return is_models_own or classes[-1:] != ["EARLIER"]
    scope = _SCOPE.match(behind)
    if scope and not any(class_of(word) in _READER for word in _WORD.findall(scope[1])):
        return False
    return phrase.name not in ENGLISH_ORDERS or all(map(_is_of_an_order, words))


def _is_asked_about(text: str, match: re.Match[str]) -> bool:
    """Return whether a third party's words are quoted, and the text ends with one question on what to do about them."""
    start = match.end() - len(match[0].lstrip(" \n.!?,(\"'"))
    introduction = _QUOTED.match(_SENTENCE_END.split(text[max(0, start - LOOK_BACK) : start])[-1])
    asked = _ASKED_ABOUT.match(text, match.end())
    if not introduction or not asked:
        return False
    by, about = _WORD.findall(introduction[1]), _WORD.findall(asked[1])
    is_reported = not all(map(_is_of_an_order, by)) and not any(class_of(word) in {"YOU", "YOUR"} for word in by)
    return is_reported and not any(class_of(word) in _OF_A_PROMPT for word in about)


def _is_of_an_order(word: str) -> bool:
    return len(word) < SHORT or word in _PLAIN or class_of(word) in _OF_A_MODEL


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
        signs = (_sign(lines if phrase.by_line else unwrapped, phrase) for phrase in PHRASES)
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
    return 1 - prod(1 - risk for risk in risks)


def _both(learnt: float, worded: float) -> float:
    """Return the probability by the classifier and the phrases: their odds, multiplied.

    So a question that the classifier takes for harmless is answered under guard though a phrase would block it.
    """
    odds = _odds(learnt) * _odds(min(worded, MOST_WORDED)) / _odds(NO_PHRASE)
    return odds / (1 + odds)


def _odds(probability: float) -> float:
    return probability / (1 - probability)
