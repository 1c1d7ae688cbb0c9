"""Phrases of attacks over folded text, from `phrases.txt`, which says how one is written."""

import re
import unicodedata
from collections.abc import Iterator
from importlib.resources import files
from typing import NamedTuple


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
_FRAGMENT, _USE = re.compile(r"([A-Z_]+) = (.*)"), re.compile(r"\{([A-Z_]+)\}")
_HEAD = re.compile(r"= ([^;!]+)(!?); ([\d.]+); ([\d.]+);(.*)")


def _read(text: str) -> Iterator[Phrase]:
    fragments: dict[str, str] = {}
    head, pattern = None, ""
    for line in [*text.splitlines(), "#"]:
        if line.startswith(("#", "= ")) or _FRAGMENT.fullmatch(line):
            if head:
                name, order, question, document, needs = head.groups()
                kinds = name not in _OTHER_SCRIPTS, tuple(needs.split("|")) if needs else (), bool(order)
                yield Phrase(name, re.compile(pattern), float(question), float(document), *kinds, name in _BY_LINE)
            head, pattern = _HEAD.fullmatch(line), ""
            if fragment := _FRAGMENT.fullmatch(line):
                fragments[fragment[1]] = _with(fragments, fragment[2])
        else:
            pattern += _with(fragments, line)


def _with(fragments: dict[str, str], pattern: str) -> str:
    return _USE.sub(lambda use: fragments[use[1]], pattern)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFKD", text)))


PHRASES = tuple(_read(_plain(files(__package__).joinpath("phrases.txt").read_text("utf-8"))))
