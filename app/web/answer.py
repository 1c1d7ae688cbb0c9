"""An answer and its citations -> HTML: which chips it has, their numbers, and what of a growing answer is shown.

Of a growing answer the end is left out that may still become something else.
"""

import re
from collections.abc import Mapping, Sequence
from os.path import commonprefix
from typing import Any

from app.edge import numbers_of
from app.web import markdown, words
from app.web.markdown import Chip
from chains.citations.markers import LONGEST_MARKER, OPENING, OPENING_BRACKETS, find_markers

FEWEST_LETTERS = 4  # Fewer between brackets name no document: `[sic]`.
MOST_DIGITS = 3  # More are no number of a source: `[2024]`.

Citation = Mapping[str, Any]


def render(
    text: str, citations: Sequence[Citation] = (), *, questions: Sequence[str] = (), language: str = words.DEFAULT
) -> tuple[str, list[int | None]]:
    """Return the HTML of an answer to which nothing is added, and the number of each citation.

    `start` and `end` of the citations are places in `text`; the parts of an answer to several `questions` get these as
    headings.
    """
    table = words.languages()[language]
    numbers = numbers_of(citations)
    chips = []
    for index, (citation, number) in enumerate(zip(citations, numbers, strict=True)):
        start, end = citation["start"], citation["end"]
        if citation["attributed"]:  # The range is a sentence without a marker; the chip follows it.
            start = end = len(text[:end].rstrip(" \t\n|"))
        key = "chip.label" if citation["matched"] else "chip.label-unknown"
        title = ", ".join(filter(None, (citation["title"], citation["section"])))
        label = words.text(table, key, number=number, title=title)
        chips.append(Chip(start, end, number, label, index, "" if citation["matched"] else "unmatched"))
    return markdown.render(text, chips, questions), numbers


def render_growing(text: str, *, questions: Sequence[str] = (), language: str = words.DEFAULT) -> tuple[str, int]:
    """Return the HTML of what has come, its markers as chips that lead nowhere, and how many characters it shows."""
    shown = steady(text)
    label = words.text(words.languages()[language], "chip.pending")
    chips: list[Chip] = []
    known: dict[str, int] = {}
    for marker in find_markers(shown):
        is_number, letters = marker.inner.isdecimal(), sum(map(str.isalpha, marker.inner))
        names = len(marker.inner) <= MOST_DIGITS if is_number else letters >= FEWEST_LETTERS
        if names and not marker.escaped and (not chips or marker.start >= chips[-1].end):
            number = int(marker.inner) if is_number else known.setdefault(marker.raw, len(known) + 1)
            chips.append(Chip(marker.start, marker.end, number, label, kind="pending"))
    length = len(commonprefix([text, shown]))  # noqa: RUF071 - of letters: without what was added to close emphasis.
    return markdown.render(shown, chips, questions), length


_BRACKET = re.compile(r"[\[\]【】［］〔〕]")
# A line that so far is nothing but the sign of a list, a heading, a quotation, a rule or a code block.
_BARE_SIGN = re.compile(r"(?:\A|\n)[ \t]*(?:[-*+_=~>#|:` \t]+|\d+[.)]?)\Z")
_BELOW_HEAD = re.compile(r"[ \t]*\|[-:| \t]*")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_HALF_FENCE = re.compile(r"\n[ \t]*[`~]{1,2}\Z")
# Single stars that begin emphasis, or end it: none of a list, none between numbers.
_STARS = re.compile(r"(?:(?<=[\s(])|\A)\*(?=[^\s*])|(?<=[^\s*])\*(?=[\s).,;:!?]|\Z)")
_SIGNS = "*~`_"


def steady(text: str) -> str:
    """Return the words that stay as they are when more come; emphasis and code that have begun are closed."""
    if _in_code_block(text):
        return _HALF_FENCE.sub("\n", text)
    line = text.rfind("\n") + 1
    address = text.rfind("](", line)
    if address >= 0 and ")" not in text[address:]:  # A link begins whose address has not ended yet.
        text = text[: max(text.rfind("[", line, address), line)]
    text = text[: _table_row(text)]
    if found := _BARE_SIGN.search(text, _last_block(text)):
        text = text[: found.start()]
    text = text[: _open_bracket(text)].rstrip("\\!")
    return text if _in_code_block(text) else _closed(text)


def _in_code_block(text: str) -> bool:
    return len(_FENCE.findall(text)) % 2 == 1  # Markdown itself closes it at the end.


def _last_block(text: str) -> int:
    return text.rfind("\n\n") + 1


def _table_row(text: str) -> int:
    """Return where a row begins that has not ended, or the head whose table is not known to be one, or the end."""
    end = len(text) - text.endswith("\n")
    row = text.rfind("\n", 0, end) + 1
    if not _is_row(text[row:end]):
        return len(text)
    above = text.rfind("\n", 0, max(row - 1, 0)) + 1
    if not _is_row(text[above:row]):
        return row
    if end < len(text):
        return len(text)
    before = text.rfind("\n", 0, max(above - 1, 0)) + 1
    is_second = not _is_row(text[before:above]) or before == above
    return above if is_second and _BELOW_HEAD.fullmatch(text, row) else row


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|")


def _open_bracket(text: str) -> int:
    """Return where a bracket of the last paragraph is open, or may get an address behind it; else the text's end."""
    waiting: list[tuple[str, int]] = []
    for found in _BRACKET.finditer(text, max(_last_block(text), len(text) - LONGEST_MARKER, 0)):
        if found[0] in OPENING_BRACKETS:
            waiting.append((found[0], found.start()))
        elif waiting and waiting[-1][0] == OPENING[found[0]] and found.end() < len(text):
            waiting.pop()
    return waiting[0][1] if waiting else len(text)


def _closed(text: str) -> str:
    """Return the text with its last emphasis or code ended, without signs at the end that may begin or end one."""
    text = text.rstrip(_SIGNS)
    last = _FENCE.sub("", text[_last_block(text) :])
    if last.count("`") % 2:
        return f"{text}`"
    if len(_STARS.findall(last)) % 2:
        text = f"{text.rstrip()}*"
    for sign in ("**", "~~"):
        if last.count(sign) % 2:
            bare = text.rstrip()
            text = bare.removesuffix(sign) if bare.endswith(sign) else bare + sign
    return text
