"""An answer and its citations -> HTML: which chips it has, their numbers, and what of a growing answer is shown."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.edge import numbers_of
from app.web import markdown, words
from app.web.chips import Chip
from app.web.growing import same_length, steady
from chains.citations.markers import find_markers

FEWEST_LETTERS = 4  # Fewer between brackets name no document: `[sic]`.
MOST_DIGITS = 3  # More are no number of a source: `[2024]`.

Citation = Mapping[str, Any]


def render(
    text: str,
    citations: Sequence[Citation] = (),
    *,
    questions: Sequence[str] = (),
    language: str = words.DEFAULT,
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
        kind = "attributed" if citation["attributed"] else "" if citation["matched"] else "unmatched"
        chips.append(Chip(start, end, number, label, index, kind))
    return markdown.render(text, chips, questions), numbers


def render_growing(text: str, *, questions: Sequence[str] = (), language: str = words.DEFAULT) -> tuple[str, int]:
    """Return the HTML of what has come of an answer, and how many of its characters that shows.

    Its citations are unknown yet: its markers become chips that lead nowhere.
    """
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
    return markdown.render(shown, chips, questions), same_length(text, shown)
