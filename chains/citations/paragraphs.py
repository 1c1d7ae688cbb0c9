"""Find the paragraph that answers each question of a message with several."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from chains.state import Citation

_NUMBER: Final = re.compile(r"^\W{0,4}(\d{1,2})[.):](?=\W)", re.MULTILINE)
_HEADING: Final = re.compile(r"^\*\*\d{1,2}[.):] .*\*\*$", re.MULTILINE)


def headings(answer: str) -> list[tuple[int, int]]:
    """Return the ranges of the lines in bold that begin with a number: they repeat the questions, and claim nothing."""
    return [found.span() for found in _HEADING.finditer(answer)]


def unanswered_parts(answer: str, parts: int, standing: Sequence[Citation]) -> list[int]:
    """Return the places of the questions whose paragraph cites nothing that stands.

    Without numbered paragraphs it is unknown which question each answers: none is unanswered, or
    all where nothing is cited.
    """
    if not standing:
        return list(range(parts))
    bounds = paragraphs(answer, parts)
    return [
        part
        for part, (start, end) in enumerate(bounds)
        if not any(start <= citation["start"] < end for citation in standing)
    ]


def paragraphs(answer: str, parts: int) -> list[tuple[int, int]]:
    """Return the range of the answer to each question; none where they are not numbered."""
    starts: list[int] = []
    for found in _NUMBER.finditer(answer):
        if int(found[1]) == len(starts) + 1 <= parts:
            starts.append(found.start())
    return list(pairwise([*starts, len(answer)])) if parts and len(starts) == parts else []
