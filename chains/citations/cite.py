"""The verb of stage 4: reads the answer's markers, matches them, and says what came of it."""

from collections.abc import Sequence

from chains.citations.decline import is_decline
from chains.citations.markers import Marker, find_markers
from chains.citations.sources import external_urls, related_documents, sources_of
from chains.citations.titles import Reference, read_titles
from chains.state import Citation, Cited, Generated, Outcome, Passage, RelatedDocument, Source


class CiteSources:
    """Reads and matches the citations of an answer."""

    def __call__(self, state: Generated) -> list[Citation]:
        """Return the citations of the answer, matched only to passages that the model was shown."""
        return cite(state["answer"], state["context"]["passages"])

    def sources(self, state: Cited) -> list[Source]:
        """Return the external pages behind the matched citations."""
        return sources_of(state["citations"], state["documents"])

    def related(self, state: Cited) -> list[RelatedDocument]:
        """Return the documents that the retrieved passages come from."""
        return related_documents(state["documents"])

    def outcome(self, state: Cited) -> Outcome:
        """Return what became of the question."""
        if state.get("scope"):
            return "declined"
        if not state["documents"]:
            return "no_results"
        return "declined" if is_decline(state["answer"]) else "answered"


def cite(answer: str, shown: Sequence[Passage]) -> list[Citation]:
    """Return the citations in `answer`, numbered by first appearance, matched to the passages `shown`."""
    numbers: dict[tuple[str | None, str | None], int] = {}
    citations = []
    for marker, reference in _references(answer, shown):
        citation = _citation(answer, marker, reference)
        if citation["matched"]:
            key = (citation["doc_id"] or citation["title"], citation["section"])
            citation["number"] = numbers.setdefault(key, len(numbers) + 1)
        citations.append(citation)
    return citations


def _references(answer: str, shown: Sequence[Passage]) -> list[tuple[Marker, Reference]]:
    found: list[tuple[Marker, Reference]] = []
    read_until = 0
    for marker in find_markers(answer):
        if marker.start < read_until:
            continue  # It stands inside a marker that has been read whole.
        references = read_titles(marker, shown)
        found.extend((marker, reference) for reference in references)
        read_until = marker.end if references else read_until
    return found


def _citation(answer: str, marker: Marker, reference: Reference) -> Citation:
    passage = reference.passage
    metadata = passage["metadata"] if passage else {}
    section = metadata.get("section") if reference.section_matched else None
    return Citation(
        raw=answer[reference.start : reference.end],
        number=None,
        title=str(metadata.get("title") or reference.title),
        section=section if passage else reference.section,
        page=metadata.get("page"),
        doc_id=metadata.get("doc_id"),
        matched=passage is not None,
        source_urls=external_urls(metadata),
        score=passage["score"] if passage else 0.0,
        start=reference.start,
        end=reference.end,
        quote="",
        support=0.0,
    )
