"""Read footnotes and the bibliography at an answer's end: which documents their labels and numbers stand for."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from chains.citations.code import code_ranges
from chains.citations.markers import find_markers
from chains.citations.number_scanner import numbers_in
from chains.citations.numbering import source_key
from chains.citations.titles import Reference, read_names
from chains.state import Passage

MOST_NOTES = 100

_FOOTNOTE = re.compile(r"^[ ]{0,3}\[\^([^\]\s]{1,40})\]:[ \t]*(\S.*)$", re.MULTILINE)
_MARK = re.compile(r"\[\^([^\]\s]{1,40})\](?!:)")
_LINE = re.compile(
    r"[ \t]*(?:[-*+][ \t]+)?(?:\*\*)?(?:\\?[\[【［](\d{1,3})\\?[\]】］](?!\()|(\d{1,3})[.)])(?:\*\*)?"
    r"[:.]?[ \t]+(\S.*)"
)
_HEADING = re.compile(r"\W*(?:sources?|references?|bibliography|citations?|works cited|notes)\W*", re.IGNORECASE)
_LINK = re.compile(r"\[([^\[\]]{1,300})\]\([^()\s]{0,600}\)")
_AROUND = ' \t\r[]【】［］*_."“”'


@dataclass(frozen=True, slots=True)
class Note:
    """A line `answer[start:end]` that says what a label stands for, and the documents that it names."""

    start: int
    end: int
    label: str
    references: tuple[Reference, ...]


def footnotes(answer: str, shown: Sequence[Passage]) -> list[Note]:
    """Return the footnotes (`[^1]: Title > Section`) that name a document."""
    lines = islice(_FOOTNOTE.finditer(answer), MOST_NOTES)
    found = [_note(line.start(), line.end(), line[1], line[2], shown) for line in lines]
    return [note for note in found if note.references]


def bibliography(answer: str, shown: Sequence[Passage]) -> list[Note]:
    """Return the numbered lines at the end of the answer, where at least one of them names a shown passage.

    Lines that begin with `[1]` need no heading above them; those that begin with `1.` do.
    """
    notes: list[Note] = []
    end = len(answer)
    headed = bracketed = False
    for line in reversed(answer.splitlines(keepends=True)):
        start = end - len(line)
        found = _LINE.fullmatch(line.rstrip())
        if found and len(notes) < MOST_NOTES:
            bracketed = bracketed or bool(found[1])
            notes.append(_note(start, start + len(line.rstrip()), found[1] or found[2], found[3], shown))
        elif line.strip():
            headed = bool(_HEADING.fullmatch(line.strip()))
            break
        end = start
    known = any(reference.passage for note in notes for reference in note.references)
    return notes[::-1] if known and (headed or bracketed) else []


def _note(start: int, end: int, label: str, text: str, shown: Sequence[Passage]) -> Note:
    named = _LINK.sub(r"\1", text).strip(_AROUND)
    return Note(start, end, str(int(label)) if label.isdecimal() else label, tuple(read_names(named, 0, shown)))


def read_notes(answer: str, shown: Sequence[Passage]) -> tuple[list[Reference], list[tuple[int, int]]]:
    """Return the references of footnote marks and listed numbers, and the ranges of the notes that define them."""
    notes, listed = footnotes(answer, shown), bibliography(answer, shown)
    places = [(note.start, note.end) for note in (*notes, *listed)]
    marks = [
        mark
        for mark in (*_footnote_marks(answer, notes), *_number_marks(answer, listed))
        if not _inside(mark[0], places)
    ]
    references = [
        Reference(start, end, named.title, named.section, named.passage, named.section_matched)
        for start, end, note in marks
        for named in note.references
    ]
    return references, sorted({(note.start, note.end) for _, _, note in marks})


def _footnote_marks(answer: str, notes: Sequence[Note]) -> Iterator[tuple[int, int, Note]]:
    by_label = {note.label: note for note in notes}
    code = code_ranges(answer) if notes else []
    for mark in _MARK.finditer(answer) if notes else ():
        label = str(int(mark[1])) if mark[1].isdecimal() else mark[1]
        if label in by_label and not _inside(mark.start(), code):
            yield mark.start(), mark.end(), by_label[label]


def _number_marks(answer: str, notes: Sequence[Note]) -> Iterator[tuple[int, int, Note]]:
    by_label = {note.label: note for note in notes}
    for marker in find_markers(answer) if notes else ():
        for number in numbers_in(marker.inner):
            if note := by_label.get(str(number)):
                yield marker.start, marker.end, note


def _inside(place: int, ranges: Sequence[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in ranges)


def numbered_sources(raw: str, shown: Sequence[Passage]) -> list[Passage | None]:
    """Return the passage of each number in an answer: by rank, unless a bibliography says otherwise."""
    sources: list[Passage | None] = list(shown)
    for note in bibliography(raw, shown):
        number = int(note.label)
        sources += [None] * (number - len(sources))
        named = next((reference.passage for reference in note.references if reference.passage), None)
        ranked = sources[number - 1] if number else None
        # A line that names only the document leaves the passage of that rank, which is of this document.
        if number and not (named and ranked and source_key(named)[0] == source_key(ranked)[0]):
            sources[number - 1] = named
    return sources
