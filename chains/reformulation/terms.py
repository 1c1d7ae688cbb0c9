"""The terms of a question: the words that name its subject, where they stand, and what they look like."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from chains.reformulation.phrases import GRAMMAR, PREPOSITIONS
from chains.text.tokens import Token, tokens

Shape = Literal["number", "acronym", "name", "word"]

_BEFORE: Final = re.compile(r"([^\W_]+)\s+(?:(?:the|a|an)\s+)?\Z", re.IGNORECASE)
# A word with what hangs together with it: K1, door-to-door, e-mail.
_WHOLE: Final = re.compile(r"[^\W_]+(?:[.'’&/-][^\W_]+)*")


class Term(NamedTuple):
    """A word that names something: its comparable form, how it is written, and where (`text[start:end]`).

    `light` words (give, number, day) name little. `preposition` is the one before it, or "".
    """

    key: str
    text: str
    start: int
    end: int
    shape: Shape
    light: bool
    preposition: str


@lru_cache(maxsize=1024)
def terms(text: str) -> tuple[Term, ...]:
    """Return the terms of a text in their order, each once."""
    found: dict[str, Term] = {}
    for term in _terms(text):
        found.setdefault(term.key, term)
    return tuple(found.values())


def _terms(text: str) -> Iterator[Term]:
    whole = {place: match for match in _WHOLE.finditer(text) for place in range(match.start(), match.end())}
    for token in tokens(text):
        if _names(token):
            match = whole.get(token.start)
            written = match.group() if match else token.text
            before = _BEFORE.search(text, 0, token.start)
            preposition = before[1].lower() if before and before[1].lower() in PREPOSITIONS else ""
            yield Term(token.key, written, token.start, token.end, _shape(token), token.kind == "light", preposition)


def _names(token: Token) -> bool:
    if token.text.isupper() and token.text not in {"A", "I"}:
        return True
    return token.kind != "stop" and token.text.lower() not in GRAMMAR


def _shape(token: Token) -> Shape:
    if token.kind == "number":
        return "number"
    if token.text.isupper():
        return "acronym"
    return "name" if token.kind == "name" else "word"
