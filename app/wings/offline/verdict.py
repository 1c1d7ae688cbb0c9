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
    question, text = evidence.question, VERDICT.sub("", one.text, count=1)  # Its own is on the question above it.
    if "verdict" not in question.wants or evidence.lacking(one) or evidence.unnamed(one):
        return ""
    if one.statement.kind == "row":  # All its columns that say yes or no say the same.
        values = {said for cell in one.statement.cells if (said := cell.text.lower()) in {"yes", "no"}}
        is_sure = len(values) == 1 and not any(map(is_negation, tokens(question.text)))
        return "" if not is_sure else "Yes" if values == {"yes"} else "No"
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


def _keys(text: str) -> set[str]:
    return {word.key for word in tokens(text) if word.weight}
