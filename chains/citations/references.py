"""Resolve the markers of an answer to the passages that the model was shown."""

from collections.abc import Sequence
from dataclasses import replace

from chains.citations.cited_sentences import cited_sentences, sentences_of
from chains.citations.markers import Marker, find_markers, inside
from chains.citations.notes import read_notes
from chains.citations.numbering import source_key
from chains.citations.titles import Reference, read_titles, with_section
from chains.citations.verification import verify
from chains.state import Passage


def read_references(answer: str, shown: Sequence[Passage]) -> tuple[list[Reference], list[tuple[int, int]]]:
    """Return the references of the answer in order, and the ranges of the notes that define them.

    Plain bracketed words are left out.
    """
    references, notes = read_notes(answer, shown)
    known: dict[str, list[Reference]] = {}
    ambiguous: list[tuple[Marker, list[Passage]]] = []
    read_until = 0
    for marker in find_markers(answer):
        inside_another = marker.start < read_until  # ... that has been read whole.
        if inside_another or inside(marker.start, notes):
            continue
        if marker.raw not in known:
            known[marker.raw] = read_titles(Marker(0, len(marker.raw), marker.raw), shown)
        if not any(found.passage for found in known[marker.raw]) and not marker.escaped:
            ambiguous += [(marker, some)] if (some := with_section(marker.inner, shown)) else []
        for found in known[marker.raw]:
            references.append(replace(found, start=found.start + marker.start, end=found.end + marker.start))
            read_until = marker.end
    settled = _settled(answer, references, ambiguous, notes)
    read = {(reference.start, reference.end) for reference in settled}
    references = settled + [one for one in references if (one.start, one.end) not in read]
    return sorted(references, key=lambda reference: (reference.start, reference.end)), notes


def _settled(
    answer: str,
    references: Sequence[Reference],
    ambiguous: Sequence[tuple[Marker, list[Passage]]],
    notes: Sequence[tuple[int, int]],
) -> list[Reference]:
    """Return a reference for each marker of a section of several documents, of which one supports its sentence."""
    if not ambiguous:
        return []
    among = {(marker.start, marker.end): some for marker, some in ambiguous}
    places = sorted({*among, *((reference.start, reference.end) for reference in references)})
    sentences = sentences_of(answer, sorted({*places, *notes}))
    found = []
    for place, indices in zip(places, cited_sentences(sentences, places), strict=True):
        words = [sentences[index].words for index in indices]
        passages = _supporting(words, among.get(place, []))
        if len({source_key(passage)[0] for passage in passages}) == 1:
            found.append(reference_to(passages[0], *place))
    return found


def _supporting(sentences: Sequence[str], passages: Sequence[Passage]) -> list[Passage]:
    return [passage for passage in passages if verify(sentences, [passage], None).supported]


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
    return Reference(start, end, title, section, passage, section_matched=True)


def candidates(reference: Reference, shown: Sequence[Passage], *, by_title: bool, same_section: bool) -> list[Passage]:
    """Return the shown passages that a reference may mean: the one named, then others of its document or section.

    By title it may mean any document that has the title.
    """
    named = reference.passage
    if named is None:
        return []
    key, title = source_key(named), named["metadata"].get("title")
    others = [
        passage
        for passage in shown
        if passage is not named
        and (source_key(passage) == key or (by_title and title and passage["metadata"].get("title") == title))
    ]
    if same_section:
        section = named["metadata"].get("section")
        others = [passage for passage in others if passage["metadata"].get("section") == section]
    return [named, *others]
