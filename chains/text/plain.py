"""Reduce Markdown to the plain words that a reader sees."""

import re

_LINK = re.compile(r"\\?!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,600}\)")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,120}>")
_EMPHASIS = re.compile(
    r"\*\*+|~~+|`+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)|(?<![\w*])\*(?=[\w\"'(])|(?<=[\w.!?:)\"'])\*(?![\w*])"
)
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~])")
_MARKS = frozenset("*_`~[<\\")


def plain(markdown: str) -> str:
    """Strip markdown's marks and keep its words, on one line."""
    text = markdown
    if not _MARKS.isdisjoint(text):
        text = _TAG.sub(" ", _LINK.sub(r"\1", text))
        text = _ESCAPE.sub(r"\1", _EMPHASIS.sub("", text))
    return " ".join(text.split())
