"""Find the bracketed spans of an answer that may be citations, and hold a stream back until one closes.

`[...]`, full-width and escaped brackets, outside code, links, images, footnotes, checkboxes and indexes. What a span
means is for `chains.citations.titles` and `chains.citations.number_scanner` to say.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from markdown_it.helpers import parseLinkDestination

from chains.citations.number_scanner import code_ranges, numbers_in

LONGEST_MARKER = 400
LONGEST_LINK = 2000

OPENING = {"]": "[", "】": "【", "］": "［", "〕": "〔", r"\]": r"\["}
"""The brackets that may hold a citation: the opening one of each closing one."""

OPENING_BRACKETS = frozenset(OPENING.values())
BRACKETS = re.compile(r"\\[\s\S]|[\[\]【】［］〔〕]|\n[ \t]*\n")
_BLANK = re.compile(r"\s")
_DEFINITION = re.compile(
    r"^[ ]{0,3}\[(?!\^)([^\[\]\n]{1,300})\]:[ \t]*(?:<[^<>\n]*>|[^\s<:/#.]*+[:/#.]\S*+)"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*$",
    re.MULTILINE,
)
_CHECKBOX = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]+")


@dataclass(frozen=True, slots=True)
class Marker:
    """A bracketed span of the answer: `answer[start:end] == raw`, brackets included; `inner` is between them."""

    start: int
    end: int
    raw: str

    @property
    def escaped(self) -> bool:
        return self.raw.startswith("\\")

    @property
    def inner(self) -> str:
        return self.raw[2:-2] if self.escaped else self.raw[1:-1]

    @property
    def inner_start(self) -> int:
        return self.start + 1 + self.escaped


def find_markers(answer: str) -> list[Marker]:
    """Return the spans that may be citations, outer before inner. Linear in the length of the answer."""
    markers: list[Marker] = []
    barred_until, links = 0, link_labels(answer)
    for start, end in sorted(_pairs(answer, code_ranges(answer))):
        if start < barred_until:
            continue
        marker = Marker(start, end, answer[start:end])
        if link_end := _link_end(answer, start, end, links):
            barred_until = link_end
        elif end - start <= LONGEST_MARKER and not _is_other(answer, marker):
            markers.append(marker)
    return markers


def link_labels(answer: str) -> frozenset[str]:
    """Return the labels of the link reference definitions in an answer: `[1]: https://example.org` (CommonMark 4.7)."""
    return frozenset(link_label(found[1]) for found in _DEFINITION.finditer(answer)) if "]:" in answer else frozenset()


def link_label(label: str) -> str:
    """Return a label as labels are compared: without regard to case and blanks."""
    return " ".join(label.casefold().split())


def inside(place: int, ranges: Iterable[tuple[int, int]]) -> bool:
    """Return whether a place in a text lies in one of the ranges."""
    return any(start <= place < end for start, end in ranges)


def _pairs(answer: str, code: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    open_at: list[tuple[str, int]] = []
    barred = iter([*code, (len(answer), len(answer))])
    low, high = next(barred)
    for found in BRACKETS.finditer(answer):
        while found.start() >= high and high < len(answer):
            low, high = next(barred)
        if low <= found.start() < high:
            continue
        bracket = found.group()
        if bracket in OPENING_BRACKETS:
            open_at.append((bracket, found.start()))
        elif bracket in OPENING:
            if (start := _opened_at(open_at, bracket)) is not None:
                yield start, found.end()
        elif not bracket.startswith("\\"):
            open_at.clear()  # A blank line ends the paragraph, and every bracket left open in it.


def _opened_at(open_at: list[tuple[str, int]], bracket: str) -> int | None:
    """Return where the bracket that this one closes was opened, taken off what is open; None where it closes none."""
    while open_at and open_at[-1][0] == r"\[" and bracket != r"\]":
        open_at.pop()  # An escaped bracket that nothing closes is text.
    return open_at.pop()[1] if open_at and open_at[-1][0] == OPENING[bracket] else None


_LABEL = re.compile(r"\[([^\[\]\n]{0,300})\]")


def _link_end(answer: str, start: int, end: int, links: Collection[str]) -> int:
    """Return the end of the link or definition that the span is, 0 if it is none."""
    inner, following = answer[start + 1 : end - 1], answer[end : end + 1]
    if (label := _LABEL.match(answer, end)) and not numbers_in(inner) and link_label(label[1] or inner) in links:
        return label.end()
    is_link = link_label(inner) in links and (not numbers_in(inner) or following == ":")
    is_link |= following in {"(", "["} and answer[start - 1 : start] == "!"
    if following == ":" and answer[end + 1 : end + 2].isspace():
        is_link |= "://" in answer[end : end + 12]
    elif following == "(" and not is_link:
        limit = min(len(answer), end + LONGEST_LINK)
        line_end = answer.find("\n", end, limit)
        limit = limit if line_end < 0 else line_end
        if answer.find(")", end, limit) >= 0:
            destination = parseLinkDestination(answer, end + 1, limit)
            is_link = destination.ok and answer[destination.pos : destination.pos + 1] in {")", " "}
    return end if is_link else 0


def _is_other(answer: str, marker: Marker) -> bool:
    inner, start = marker.inner.strip(), marker.start
    if not inner or (inner.startswith("^") and not _BLANK.search(inner)):  # A footnote's label has no blanks.
        return True
    if inner in {"x", "X"}:
        line = answer.rfind("\n", 0, start) + 1
        return bool(_CHECKBOX.fullmatch(answer, line, start))
    before = answer[start - 1 : start]
    is_index = inner.lstrip("-").isalnum() and " " not in inner
    return answer[start] == "[" and (before.isalnum() or before in {"_", ")"}) and is_index


_BACKTICKS = re.compile("`+")


class MarkerBuffer:
    """Hold text back from an opening bracket until it closes; change nothing."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        self._held += piece
        cut = self._opened_at()
        shown, self._held = self._held[:cut], self._held[cut:]
        return shown

    def flush(self) -> str:
        rest, self._held = self._held, ""
        return rest

    def _opened_at(self) -> int:
        open_at: list[tuple[str, int]] = []
        for found in BRACKETS.finditer(self._held):
            bracket = found.group()
            if bracket.startswith("\\"):
                continue
            if bracket in OPENING_BRACKETS:
                open_at.append((bracket, found.start()))
            elif bracket not in OPENING:
                open_at.clear()
            elif open_at and open_at[-1][0] == OPENING[bracket]:
                opened = ""
                for run in _BACKTICKS.findall(self._held[open_at[-1][1] : found.start()]):
                    opened = "" if run == opened else opened or run
                if not opened:  # A bracket in a code span that is open closes nothing.
                    open_at.pop()
        waiting = [start for _, start in open_at if len(self._held) - start <= LONGEST_MARKER]
        ends_in_escape = self._held.endswith("\\")
        return waiting[0] if waiting else len(self._held) - ends_in_escape
