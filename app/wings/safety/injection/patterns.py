"""Phrases of attacks over folded text, from `phrases.txt`, which says how one is written."""

import re
import unicodedata
from typing import NamedTuple

from chains.text.pattern_file import read_patterns


class Phrase(NamedTuple):
    """How an attack is worded, and how likely a text that holds it is one: in a question, and in a document."""

    name: str
    pattern: re.Pattern[str]
    in_question: float
    in_document: float
    is_ascii: bool  # Whether an ASCII text can hold it.
    needs: tuple[str, ...]  # One of these stands in whatever it finds, and is quick to look for.
    is_order: bool  # Whether it counts only where it is meant for the model (`addressee`).
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
