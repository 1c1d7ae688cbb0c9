"""Markdown in, the plain words a reader sees out; and their sentences."""

import re

from app.adapters.llm.offline.words import listed

_LINK = re.compile(r"\\?!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,600}\)")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,120}>")
_EMPHASIS = re.compile(
    r"\*\*+|~~+|`+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)|(?<![\w*])\*(?=[\w\"'(])|(?<=[\w.!?:)\"'])\*(?![\w*])"
)
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~])")
_MARKS = frozenset("*_`~[<\\")
_SENTENCE_END = re.compile(r"[.!?][)\"'\u201d\u2019]{0,2}\s+(?=[^\sa-z])|[\u3002\uff01\uff1f]")
_LAST_WORD = re.compile(r"(\S{1,20})$")
_NOT_PROSE = re.compile(r"\s*(?:\||-{3,}|_{3,}|={3,})\s*")
_ABBREVIATIONS = listed(
    """
    approx art ca cf co corp dept dr e.g eg etc fig gov i.e ie inc jr ltd max min mr mrs ms no nos p para pp pte
    sec sgt sr st tel vol vs
    """
)
_PAIRS = {"(": ")", "\u201c": "\u201d"}


def plain(markdown: str) -> str:
    """Strip markdown's marks and keep its words, on one line."""
    text = markdown
    if not _MARKS.isdisjoint(text):
        text = _TAG.sub(" ", _LINK.sub(r"\1", text))
        text = _ESCAPE.sub(r"\1", _EMPHASIS.sub("", text))
    return " ".join(text.split())


def _ends_sentence(before: str) -> bool:
    """Tell a full stop from the point of an abbreviation or an initial, given the text up to the mark."""
    found = _LAST_WORD.search(before[-20:])
    word = found.group(1).lstrip("(\"'").lower() if found else ""
    return not (
        word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha()) or word[1::2] == "." * (len(word) // 2) != ""
    )


def _prose_parts(text: str) -> list[str]:
    return [part for part in _NOT_PROSE.split(text) if part]


def sentences(text: str) -> list[str]:
    """Split plain text into sentences; table bars and rules between words divide as well."""
    found: list[str] = []
    for part in _prose_parts(text):
        start = 0
        for mark in _SENTENCE_END.finditer(part):
            if part[mark.start()] != "." or _ends_sentence(part[start : mark.start()]):
                found.append(part[start : mark.end()].strip())
                start = mark.end()
        found.append(part[start:].strip())
    return [sentence for sentence in found if sentence]


def whole(text: str) -> bool:
    """Tell whether brackets and quotes close; a text cut in the middle often leaves one open."""
    return all(text.count(opening) == text.count(closing) for opening, closing in _PAIRS.items())
