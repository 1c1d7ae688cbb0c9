"""Decide by a question's form how it depends on the conversation before it."""

import re
from collections.abc import Sequence
from typing import Final, Literal

from chains.reformulation.phrases import (
    ABOUT,
    ASKING,
    CORRECTION,
    DEFINING,
    MEASURES,
    OBJECTS,
    OPENING,
    PRONOUNS,
    RETURN,
)
from chains.reformulation.terms import Term, terms
from chains.text.words import plain_words

Leaning = Literal["fragment", "whole"]
"""A fragment renames or adds a part of the question before; a whole question lacks its subject only."""

# A question with more terms than this says itself what it is about.
MOST_TERMS = 4
# So few terms without a verb or question word are a part of a question.
FRAGMENT_TERMS = 2
# With more terms, a pronoun stands for somebody or something that the question need not name.
PRONOUN_TERMS = 3
CLAUSE_ENDS = (",", ":", " - ", " and ", ". ")
# After this many terms a pronoun stands for one of them.
ANTECEDENTS = 2
# A question whose opening names its subject has at most this many terms.
RETURN_TERMS = 3

_WORD: Final = re.compile(r"[^\W_]+")


def leaning(question: str) -> Leaning | None:
    """Return how a question leans on those before it; None where it stands alone."""
    named = [term for term in terms(question) if not term.light]
    if len(named) > MOST_TERMS or (RETURN.match(question) and len(named) >= RETURN_TERMS):
        return None
    if CORRECTION.match(question):
        return "fragment"
    if not _asks(question) and not _commands(question) and (OPENING.match(question) or len(named) <= FRAGMENT_TERMS):
        return "fragment"
    return "whole" if _has_gap(question, named) else None


def lacks_subject(question: str) -> bool:
    """Return whether a question with nothing before it names no subject at all: "How much is it?"."""
    named = [term for term in terms(question) if not term.light and term.text.lower() not in MEASURES]
    return not named and bool(plain_words(question))


def _commands(question: str) -> bool:
    return any(word in OBJECTS for word in plain_words(question))


def _asks(question: str) -> bool:
    about = ABOUT.match(question)
    return any(word in ASKING for word in plain_words(question[about.end() :] if about else question))


def _has_gap(question: str, named: Sequence[Term]) -> bool:
    """Return whether a whole question does not say what it is about."""
    if pronoun := _first_pronoun(question):
        return len(named) <= PRONOUN_TERMS and not _is_bound(pronoun, question, named)
    if any(term.shape != "word" for term in named):
        return False
    if OPENING.match(question):
        return len(named) <= FRAGMENT_TERMS
    # "What is the price?" speaks of something known; "What is demurrage?" does not, and "How can I apply?" may.
    if len(named) <= FRAGMENT_TERMS and "the" in plain_words(question):
        return True
    return len(named) <= 1 and not DEFINING.match(question)


def first_pronoun(question: str) -> str | None:
    """Return the first word of a question that stands for something said before."""
    found = _first_pronoun(question)
    return found.group() if found else None


def _first_pronoun(question: str) -> re.Match[str] | None:
    # In capitals it is a name.
    words = (word for word in _WORD.finditer(question) if len(word.group()) == 1 or not word.group().isupper())
    return next((word for word in words if word.group().lower() in PRONOUNS), None)


def _is_bound(pronoun: re.Match[str], question: str, named: Sequence[Term]) -> bool:
    """Return whether a pronoun stands for something that the question itself names before it."""
    before = [term for term in named if term.start < pronoun.start()]
    clause = max(question.rfind(mark, 0, pronoun.start()) for mark in CLAUSE_ENDS)
    return len(before) >= ANTECEDENTS or any(term.start < clause for term in before)
