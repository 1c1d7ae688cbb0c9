"""Markdown -> the plain words that a reader sees, and their sentences."""

import re

from chains.text.sentences import sentences as split_sentences

_LINK = re.compile(r"\\?!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,600}\)")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,120}>")
_EMPHASIS = re.compile(
    r"\*\*+|~~+|`+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)|(?<![\w*])\*(?=[\w\"'(])|(?<=[\w.!?:)\"'])\*(?![\w*])"
)
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~])")
_MARKS = frozenset("*_`~[<\\")
_NOT_PROSE = re.compile(r"\s*(?:\||-{3,}|_{3,}|={3,})\s*")
_PAIRS = {"(": ")", "\u201c": "\u201d"}


def plain(markdown: str) -> str:
    """Strip markdown's marks and keep its words, on one line."""
    text = markdown
    if not _MARKS.isdisjoint(text):
        text = _TAG.sub(" ", _LINK.sub(r"\1", text))
        text = _ESCAPE.sub(r"\1", _EMPHASIS.sub("", text))
    return " ".join(text.split())


def sentences(text: str) -> list[str]:
    """Split plain text into sentences; table bars and rules between words divide as well."""
    return [sentence for part in _NOT_PROSE.split(text) for sentence in split_sentences(part)]


def whole(text: str) -> bool:
    """Return whether brackets and quotes close; a text cut in the middle often leaves one open."""
    return all(text.count(opening) == text.count(closing) for opening, closing in _PAIRS.items())
