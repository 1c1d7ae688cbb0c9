"""Decide whether an answer says that the documents do not hold the answer.

The rule: within the first 150 characters a phrase says that the documents lack it, or that the one who answers has no
information; and nothing else in the answer is supported. So "The documents do not name a fee [1]." is a decline, and
"The documents name no fee for Johor. The fee for Batam is S$50 [1]." is an answer. A sentence that the cited passage
itself supports ("Our quotes do not include duty [1].") is an answer as well.
"""

import re
from collections.abc import Sequence

from chains.citations.cited_sentences import without
from chains.state import Citation

OPENING_CHARACTERS = 150
SUPPORTED = 0.7  # From this support on, the passage itself says what the sentence says.

_DOCUMENTS = r"(?:documents?|sources?|contexts?|passages?|excerpts?|materials?|knowledge base|corpus|information)"
_VERBS = r"(?:contain|include|mention|provide|specify|state|cover|address|have|hold|say|name)"
_FIND = r"(?:answer|find|locate|determine)"
_NOT = r"(?:(?:do|does|did)(?: not|n't))"
_CANNOT = r"(?:cannot|can not|can't|could not|couldn't|(?:am |are |is |was )?unable to)"
_NEWS = r"(?:information|details|data|answers?)"
_PHRASES = re.compile(
    rf"\b{_DOCUMENTS}\b[^.!?\n]{{0,60}}?\b(?:{_NOT} (?:\w+ ){{0,2}}?{_VERBS}|{_CANNOT} (?:\w+ )?{_FIND}"
    rf"|not enough {_NEWS}|no (?:\w+ ){{0,2}}?{_NEWS})\b"
    rf"|\b(?:i|we) {_NOT} (?:currently )?have (?:\w+ ){{0,3}}?{_NEWS}\b"
    rf"|\b(?:i|we) {_CANNOT} (?:\w+ )?{_FIND}\b|\b(?:i|we) found no (?:\w+ ){{0,2}}?{_NEWS}\b"
    rf"|\bnot (?:\w+ )?(?:mentioned|covered|contained|included|addressed|specified|available|found) in "
    rf"(?:\w+ ){{0,3}}?{_DOCUMENTS}\b"
    rf"|^\W*(?:there is |i have |we have )?(?:no|not enough) (?:\w+ ){{0,2}}?{_NEWS}\b",
    re.IGNORECASE,
)
_ASKED_FOR = re.compile(r"\W*I don't have specific information about that in the (?:\w+ )?documents", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n")


def opens_with_decline(answer: str, sentence: str = "") -> bool:
    """Return whether the answer opens with the packaged prompt's sentence or this one, whatever stands behind it."""
    return bool(sentence and answer.startswith(sentence)) or _ASKED_FOR.match(answer.replace("’", "'")) is not None


def says_nothing_found(sentence: str) -> bool:
    """Return whether a sentence says that the documents do not hold something."""
    return _PHRASES.search(sentence.replace("’", "'")) is not None


def _end_of_decline(answer: str) -> int | None:
    """Return where the decline ends that an answer opens with."""
    phrase = _PHRASES.search(answer[:OPENING_CHARACTERS].replace("’", "'"))
    last = _SENTENCE_END.search(answer, phrase.end()) if phrase else None
    return last.end() if last else len(answer) if phrase else None


def first_decline(answer: str) -> str:
    end = _end_of_decline(answer)
    return answer if end is None else answer[:end].rstrip()


def is_decline(answer: str, citations: Sequence[Citation], sentence: str = "") -> bool:
    """Return whether the answer opens with a decline or this sentence, and supports nothing else."""
    if opens_with_decline(answer, sentence):
        return True
    if (end := _end_of_decline(answer)) is None:
        return False
    places = [(citation["start"], citation["end"]) for citation in citations if not citation["attributed"]]
    return not any(
        citation["support"] >= SUPPORTED
        or (citation["start"] >= end and without(answer, end, citation["start"], places).strip(" .;,"))
        for citation in citations
        if citation["matched"]
    )
