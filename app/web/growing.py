"""What of a growing answer can be shown: without the end that may still become something else."""

import re

from chains.citations.markers import LONGEST_MARKER, OPENING, OPENING_BRACKETS

_BRACKET = re.compile(r"[\[\]【】［］〔〕]")
_HALF_LINK = re.compile(r"!?\[[^\]\n]*\]\([^)\n]*\Z")
# A line that so far is nothing but the sign of a list, a heading, a quotation, a rule or a code block.
_BARE_SIGN = re.compile(r"(?:\A|\n)[ \t]*(?:[-*+_=~>#|:` \t]+|\d+[.)]?)\Z")
_TABLE_BEGINS = re.compile(r"(?:\A|\n\n?)[ \t]*\|[^\n]*(?:\n[ \t]*\|[-:| \t]*)?\Z")
_FENCE = re.compile(r"^[ \t]*(```|~~~)", re.MULTILINE)


def steady(text: str) -> str:
    """Return the words that stay as they are when more come; emphasis and code that have begun are closed."""
    if len(_FENCE.findall(text)) % 2:
        return text  # Inside a code block, which markdown closes itself.
    for ending in (_HALF_LINK, _TABLE_BEGINS, _BARE_SIGN):
        if found := ending.search(text):
            text = text[: found.start()]
    text = text[: _open_bracket(text)].rstrip("\\!")
    return _closed(text)


def _open_bracket(text: str) -> int:
    """Return where a bracket begins that is still open in the last paragraph, or the end of the text."""
    paragraph = max(text.rfind("\n\n") + 1, len(text) - LONGEST_MARKER, 0)
    waiting: list[tuple[str, int]] = []
    for found in _BRACKET.finditer(text, paragraph):
        if found[0] in OPENING_BRACKETS:
            waiting.append((found[0], found.start()))
        elif waiting and waiting[-1][0] == OPENING[found[0]]:
            waiting.pop()
    return waiting[0][1] if waiting else len(text)


def _closed(text: str) -> str:
    last = text[text.rfind("\n\n") + 1 :]
    if last.count("`") % 2:
        return text.removesuffix("`") if text.endswith("`") else text + "`"
    for sign in ("**", "~~"):
        if last.count(sign) % 2:
            bare = text.rstrip()
            return bare.removesuffix(sign) if bare.endswith(sign) else bare + sign
    return text.removesuffix("*") if re.search(r"(?:^|\s)\*\Z", text) else text
