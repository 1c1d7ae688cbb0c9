"""A bracketed span -> the titles and sections it names, resolved against the passages that the model was shown.

Understands `[Title]`, `[Title > Section]`, deeper paths, `[Cite: ...]`, `[Cited from ...]`, several in one bracket
separated by semicolons, and the separators that models write in place of `>`.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chains.citations.markers import Marker
from chains.citations.matching import CONTAINED_FLOOR, CONTAINED_SPAN, likeness
from chains.state import Passage

SECTION_WEIGHT = 0.3
LEAST_CONTAINED = CONTAINED_FLOOR + 0.4 * CONTAINED_SPAN

_PREFIX = re.compile(
    r"\s*(?:cite[ds]?|citation|source|ref(?:erence)?|see)(?:\s+from)?\s*[::]\s*|\s*cited\s+from\s+", re.IGNORECASE
)
_PATH = re.compile(r"\s*(?:&gt;|->|=>|[>›»→])\s*")
_LOOSE = re.compile(r"\s+[-–—|]\s+|\s*[:,]\s+")
_PART = re.compile(r"[^;]+")


@dataclass(frozen=True, slots=True)
class Reference:
    """One document that a marker names, with its best passage, or None where nothing shown fits."""

    start: int
    end: int
    title: str
    section: str | None
    passage: Passage | None
    section_matched: bool


@dataclass(frozen=True, slots=True)
class _Reading:
    title: str
    section: str | None
    passage: Passage | None
    score: float
    section_score: float


def read_titles(marker: Marker, shown: Sequence[Passage]) -> list[Reference]:
    """Return what the marker refers to; empty where it is no citation at all (a plain bracketed word, a year)."""
    if not any(map(str.isalpha, marker.inner)):
        return []
    whole = _reference(marker.inner, marker.start + 1, shown, span=(marker.start, marker.end))
    spans = _PART.finditer(marker.inner) if ";" in marker.inner else ()
    parts = [_reference(span.group(), marker.start + 1 + span.start(), shown) for span in spans]
    named = [part for part in parts if part is not None]
    # A title may hold a semicolon itself: the parts count where each names a document, or the whole names none.
    if named and (all(part and part.passage for part in parts) or not (whole and whole.passage)):
        return named
    return [whole] if whole else []


def _reference(
    text: str, offset: int, shown: Sequence[Passage], *, span: tuple[int, int] | None = None
) -> Reference | None:
    prefix = _PREFIX.match(text)
    named = text[prefix.end() :] if prefix else text
    reading = max(_readings(named.strip(), shown), key=lambda candidate: candidate.score)
    if reading.passage is None and not (prefix or (reading.section and any(map(str.isalpha, reading.title)))):
        return None
    start, end = span or _stripped(text, offset)
    matched = reading.section_score > 0
    return Reference(start, end, reading.title, reading.section, reading.passage, matched)


def _stripped(text: str, offset: int) -> tuple[int, int]:
    return offset + len(text) - len(text.lstrip()), offset + len(text.rstrip())


def _readings(text: str, shown: Sequence[Passage]) -> Iterator[_Reading]:
    """Yield every way to read `text` as a title and a section, the default first, each with its best passage."""
    first = _PATH.search(text)
    whole = _best(text, None, shown)
    if first:
        yield _best(text[: first.start()], text[first.end() :], shown)
    if first is None or whole.score == 1.0:  # A title may hold a separator, but then it has to stand there exactly.
        yield whole
    for separator in list(_PATH.finditer(text))[1:4]:
        yield _best(text[: separator.start()], text[separator.end() :], shown)
    for separator in list(_LOOSE.finditer(text))[:4]:
        reading = _best(text[: separator.start()], text[separator.end() :], shown)
        if reading.passage is not None and reading.section_score > 0:
            yield reading


def _best(title: str, section: str | None, shown: Sequence[Passage]) -> _Reading:
    best = _Reading(title.strip(), section.strip() if section else None, None, 0.0, 0.0)
    for passage in shown:
        fit = likeness(title, str(passage["metadata"].get("title") or ""))
        if not fit:
            continue
        section_fit = section_likeness(section, passage) if section else 0.0
        if fit < LEAST_CONTAINED and fit >= CONTAINED_FLOOR and not section_fit:
            continue  # One word of a title, in brackets, is most likely a word in brackets.
        score = fit + SECTION_WEIGHT * section_fit
        if score > best.score:
            best = _Reading(best.title, best.section, passage, score, section_fit)
    return best


def section_likeness(section: str, passage: Passage) -> float:
    """Return how well a section as written fits the passage's own section or a heading on its path, 0 to 1."""
    path = _headings(passage["metadata"].get("section_path"))
    own = str(passage["metadata"].get("section") or "")
    written = [section, *_PATH.split(section)]
    fits = [likeness(part, own) for part in written]
    fits += [0.9 * likeness(part, heading) for part in written for heading in path]
    return max(fits, default=0.0)


def _headings(path: object) -> list[str]:
    # A store keeps the list as JSON.
    headings = json.loads(path) if isinstance(path, str) and path.startswith("[") else path
    return [str(heading) for heading in headings] if isinstance(headings, list | tuple) else []
