"""Resolve the markers of an answer, its footnotes and its bibliography to the passages that the model was shown."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from chains.citations.markers import Marker, code_ranges, find_markers, inside, numbers_in
from chains.citations.numbering import source_key
from chains.citations.titles import Reference, read_names, read_titles
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


def bibliography(answer: str, shown: Sequence[Passage]) -> list[Note]:
    """Return the numbered lines below a heading like "Sources", or at the answer's end; none if none names a passage.

    Lines that begin with `[1]` need no heading above them; those that begin with `1.` do.
    """
    lines = [(line.start(), line.group()) for line in re.finditer(r"[^\n]+", answer) if line.group().strip()]
    heading = next((place for place in reversed(range(len(lines))) if _HEADING.fullmatch(lines[place][1])), None)
    first = 0 if heading is None else heading + 1
    if heading is None:
        first = next((place for place in reversed(range(len(lines))) if not _LINE.fullmatch(lines[place][1])), -1) + 1
    found = [(start, line) for start, text in lines[first:] if (line := _LINE.fullmatch(text))]
    if heading is None and not any(line[1] for _, line in found):
        return []
    listed = [
        _note(start, start + line.end(), line[1] or line[2], line[3], shown) for start, line in found[:MOST_NOTES]
    ]
    return listed if any(reference.passage for note in listed for reference in note.references) else []


def _note(start: int, end: int, label: str, text: str, shown: Sequence[Passage]) -> Note:
    named = _LINK.sub(r"\1", text).strip(_AROUND)
    return Note(start, end, _label(label), tuple(read_names(named, 0, shown)))


def _label(label: str) -> str:
    plain = unicodedata.normalize("NFKC", label)
    return str(int(plain)) if plain.isdecimal() else label


def read_notes(
    answer: str, shown: Sequence[Passage], *, listed: Sequence[Note] = ()
) -> tuple[list[Reference], list[tuple[int, int]]]:
    """Return the references of footnote marks and of the numbers of `listed` notes, and the ranges of their notes.

    A footnote (`[^1]: Title > Section`, `¹ Title`) counts where it names a document.
    """
    lines = islice(_FOOTNOTE.finditer(answer), MOST_NOTES)
    read = [_note(line.start(), line.end(), line[1] or line[2], line[3], shown) for line in lines]
    notes = [note for note in read if note.references]
    by_label, by_number = ({note.label: note for note in some} for some in (notes, listed))
    code = code_ranges(answer) if notes else []
    marks = [
        (mark.start(), mark.end(), by_label.get(_label(mark[1] or mark[2])))
        for mark in (_MARK.finditer(answer) if notes else ())
        if not inside(mark.start(), code)
    ]
    for marker in find_markers(answer) if listed else ():
        marks += [(marker.start, marker.end, by_number.get(str(number))) for number in numbers_in(marker.inner)]
    places = [(note.start, note.end) for note in (*notes, *listed)]
    found = [(start, end, note) for start, end, note in marks if note and not inside(start, places)]
    references = [replace(named, start=start, end=end) for start, end, note in found for named in note.references]
    return references, sorted({(note.start, note.end) for _, _, note in found})


def numbered_sources(raw: str, shown: Sequence[Passage]) -> list[Passage | None]:
    """Return the passage of each number in an answer: by rank, unless a bibliography says otherwise."""
    sources: list[Passage | None] = list(shown)
    for note in bibliography(raw, shown):
        number = int(note.label)
        sources += [None] * (number - len(sources))
        named = next((reference for reference in note.references if reference.passage), None)
        ranked = sources[number - 1] if number else None
        # A line may name only the document of the passage that has this rank.
        is_same = named and ranked and named.passage and source_key(named.passage)[0] == source_key(ranked)[0]
        if number and not (named and is_same and not named.section_matched):
            sources[number - 1] = named.passage if named else None
    return sources


def read_references(answer: str, shown: Sequence[Passage]) -> tuple[list[Reference], list[tuple[int, int]]]:
    """Return the references of the answer in order, and the ranges of the notes that define them.

    Plain bracketed words are left out.
    """
    references, notes = read_notes(answer, shown, listed=bibliography(answer, shown))
    known: dict[str, list[Reference]] = {}
    read_until = 0
    for marker in find_markers(answer):
        inside_another = marker.start < read_until  # ... that has been read whole.
        if inside_another or inside(marker.start, notes):
            continue
        if marker.raw not in known:
            known[marker.raw] = read_titles(Marker(0, len(marker.raw), marker.raw), shown)
        for found in known[marker.raw]:
            references.append(replace(found, start=found.start + marker.start, end=found.end + marker.start))
            read_until = marker.end
    return sorted(references, key=lambda reference: (reference.start, reference.end)), notes


def read_numbers(answer: str, cited: Sequence[Passage]) -> list[Reference]:
    """Return what the numbered markers of the answer refer to; `cited` are the passages of its numbers."""
    references = []
    for marker in find_markers(answer):
        number = int(marker.inner) if marker.inner.isdecimal() and not marker.escaped else 0
        if 1 <= number <= len(cited):
            references.append(reference_to(cited[number - 1], marker.start, marker.end))
    return references


def reference_to(passage: Passage | None, start: int, end: int) -> Reference:
    """Return a reference to this passage; None is one to nothing."""
    metadata = passage["metadata"] if passage else {}
    title, section = str(metadata.get("title") or ""), metadata.get("section")
    return Reference(title, section, passage, section_score=1.0, start=start, end=end)


def candidates(reference: Reference, shown: Sequence[Passage], *, by_title: bool) -> list[Passage]:
    """Return the shown passages that a reference may mean: the one named, then others of its document or section.

    By title it may mean any document that has the title, and the section that it names.
    """
    named = reference.passage
    if named is None:
        return []
    key, title, section = source_key(named), named["metadata"].get("title"), named["metadata"].get("section")
    others = [
        passage
        for passage in shown
        if passage is not named
        and (source_key(passage) == key or (by_title and title and passage["metadata"].get("title") == title))
        and not (by_title and reference.section_matched and passage["metadata"].get("section") != section)
    ]
    return [named, *others]
