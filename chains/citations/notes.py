"""Read footnotes and the bibliography at an answer's end: which documents their labels and numbers stand for."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from chains.citations.markers import code_ranges, find_markers, inside
from chains.citations.number_scanner import numbers_in
from chains.citations.numbering import source_key
from chains.citations.titles import Reference, read_names
from chains.state import Passage

MOST_NOTES = 100

_SUPERSCRIPT = "[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]{1,3}"
_FOOTNOTE = re.compile(
    rf"^[ ]{{0,3}}(?:\[\^([^\]\s]{{1,40}})\]:(?:[ \t]*\n(?=[ \t]))?|({_SUPERSCRIPT})[.:)]?)[ \t]*(\S.*)$", re.MULTILINE
)
_MARK = re.compile(rf"\[\^([^\]\s]{{1,40}})\](?!:)|(?:(?<=[.,;:!?)\"”’\]])|(?<=\w{{4}}))({_SUPERSCRIPT})")
_NUMBER = r"(?:(?:source|reference|ref\.?|document)\s*)?#?(\d{1,3})"
_LINE = re.compile(
    rf"[ \t]*(?:[-*+][ \t]+)?(?:\*\*)?(?:\\?[\[【［]{_NUMBER}\\?[\]】］](?!\()|{_NUMBER}[.):])(?:\*\*)?"
    r"[:.]?[ \t]+(\S.*)",
    re.IGNORECASE,
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
    """Return the footnotes (`[^1]: Title > Section`, `¹ Title`) that name a document."""
    lines = islice(_FOOTNOTE.finditer(answer), MOST_NOTES)
    found = [_note(line.start(), line.end(), line[1] or line[2], line[3], shown) for line in lines]
    return [note for note in found if note.references]


def bibliography(answer: str, shown: Sequence[Passage]) -> list[Note]:
    """Return the numbered lines below a heading like "Sources", or at the answer's end; none if none names a passage.

    Lines that begin with `[1]` need no heading above them; those that begin with `1.` do.
    """
    lines = [(line.start(), line.group()) for line in re.finditer(r"[^\n]+", answer) if line.group().strip()]
    heading = next((place for place in reversed(range(len(lines))) if _HEADING.fullmatch(lines[place][1])), None)
    if heading is not None:
        listed = _listed(lines[heading + 1 :], shown)
    else:
        first = next((place for place in reversed(range(len(lines))) if not _LINE.fullmatch(lines[place][1])), -1) + 1
        bracketed = any((found := _LINE.fullmatch(line)) and found[1] for _, line in lines[first:])
        listed = _listed(lines[first:], shown) if bracketed else []
    return listed if any(reference.passage for note in listed for reference in note.references) else []


def _listed(lines: Sequence[tuple[int, str]], shown: Sequence[Passage]) -> list[Note]:
    found = [(start, _LINE.fullmatch(line)) for start, line in lines[:MOST_NOTES]]
    return [
        _note(start, start + line.end(), line[1] or line[2], line[3], shown)
        for start, line in found
        if line is not None
    ]


def _note(start: int, end: int, label: str, text: str, shown: Sequence[Passage]) -> Note:
    named = _LINK.sub(r"\1", text).strip(_AROUND)
    return Note(start, end, _label(label), tuple(read_names(named, 0, shown)))


def _label(label: str) -> str:
    plain = unicodedata.normalize("NFKC", label)
    return str(int(plain)) if plain.isdecimal() else label


Read = tuple[list[Reference], list[tuple[int, int]]]
"""References, and the ranges of the notes that define them."""


def read_notes(answer: str, shown: Sequence[Passage]) -> Read:
    """Return the references of footnote marks and listed numbers."""
    notes, listed = footnotes(answer, shown), bibliography(answer, shown)
    return _read([*notes, *listed], (*_footnote_marks(answer, notes), *_number_marks(answer, listed)))


def read_footnotes(answer: str, shown: Sequence[Passage]) -> Read:
    """Return the references of footnote marks."""
    notes = footnotes(answer, shown)
    return _read(notes, _footnote_marks(answer, notes))


def _read(notes: Sequence[Note], found: Iterable[tuple[int, int, Note]]) -> Read:
    places = [(note.start, note.end) for note in notes]
    marks = [mark for mark in found if not inside(mark[0], places)]
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
        label = _label(mark[1] or mark[2])
        if label in by_label and not inside(mark.start(), code):
            yield mark.start(), mark.end(), by_label[label]


def _number_marks(answer: str, notes: Sequence[Note]) -> Iterator[tuple[int, int, Note]]:
    by_label = {note.label: note for note in notes}
    for marker in find_markers(answer) if notes else ():
        for number in numbers_in(marker.inner):
            if note := by_label.get(str(number)):
                yield marker.start, marker.end, note


def numbered_sources(raw: str, shown: Sequence[Passage]) -> list[Passage | None]:
    """Return the passage of each number in an answer: by rank, unless a bibliography says otherwise."""
    sources: list[Passage | None] = list(shown)
    for note in bibliography(raw, shown):
        number = int(note.label)
        sources += [None] * (number - len(sources))
        named = next((reference for reference in note.references if reference.passage), None)
        ranked = sources[number - 1] if number else None
        if number and not (named and ranked and _agrees(named, ranked)):
            sources[number - 1] = named.passage if named else None
    return sources


def _agrees(named: Reference, ranked: Passage) -> bool:
    """Return whether a line names only the document of the passage that has this rank."""
    return bool(named.passage and not named.section_matched and source_key(named.passage)[0] == source_key(ranked)[0])
