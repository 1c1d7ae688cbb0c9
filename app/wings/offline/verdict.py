"""Say yes or no where question and statement leave no doubt: by what they permit or require, and what they deny."""

import re
from typing import Final, Literal

from app.wings.offline.evidence import VERDICT, Candidate, Evidence
from chains.citations.clashes import is_negation
from chains.text.tokens import tokens

Verdict = Literal["Yes", "No", ""]

_PERMITS: Final = re.compile(
    r"\b(?:can|could|may|cannot|can't|allow\w*|permitted|possible|accept\w*|forbidden|prohibited|banned)\b", re.I
)
_REQUIRES: Final = re.compile(
    r"\b(?:must|need\w*|ha(?:s|ve) to|required?|necessary|mandatory|compulsory|obligatory|optional|voluntary)\b", re.I
)
_DENIES: Final = re.compile(r"\b(?:forbidden|prohibited|banned|optional|voluntary)\b", re.I)
_CONDITION: Final = re.compile(
    r"\b(?:if|unless|except|only|when|where|provided|until|before|after|but|or|subject to|depend\w*|most|some"
    r"|usually)\b",
    re.I,
)
_WITHOUT: Final = re.compile(r"\bwithout\b(?: (?:an?|the|any)\b)?", re.IGNORECASE)


def verdict(one: Candidate, evidence: Evidence) -> Verdict:
    """Return the answer to a question for yes or no; "" where it is not sure."""
    question, own = evidence.question, VERDICT.match(one.text)
    text = one.text[own.end() :] if own else one.text  # Its own verdict is on the question above it.
    if "verdict" not in question.wants or not evidence.holds_all(one):
        return ""
    if one.statement.kind == "row":
        return _of_row(one, evidence)
    asked, *asked_without = _WITHOUT.split(question.text, maxsplit=1)
    said, *without = _WITHOUT.split(text, maxsplit=1)
    negations = sum(map(is_negation, tokens(said))) + bool(_DENIES.search(said))
    if _CONDITION.search(f"{asked} {text}") or any(map(is_negation, tokens(asked))) or negations > 1:
        return ""
    is_denied = negations == 1
    permits, requires = bool(_PERMITS.search(asked)), bool(_REQUIRES.search(asked))
    lacked, lacking = (_keys(" ".join(some)) for some in (asked_without, without))
    if permits and lacked and not lacking and _REQUIRES.search(said) and lacked <= _keys(said):
        return "Yes" if is_denied else "No"
    is_alike = (permits, requires) == (bool(_PERMITS.search(said)), bool(_REQUIRES.search(said)))
    if lacked != lacking or not is_alike or permits == requires:
        return ""
    return "No" if is_denied else "Yes"


def _of_row(one: Candidate, evidence: Evidence) -> Verdict:
    """Return what a row says under all its columns that say yes or no; "" where they differ."""
    values = {text for cell in one.statement.cells if (text := cell.text.lower()) in {"yes", "no"}}
    if len(values) != 1 or any(map(is_negation, tokens(evidence.question.text))):
        return ""
    return "Yes" if values == {"yes"} else "No"


def _keys(text: str) -> set[str]:
    return {word.key for word in tokens(text) if word.weight}
