"""The work of the stages as functions on plain values, for programs that do not want the whole chain."""

from collections.abc import Iterable, Sequence

from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from typing_extensions import TypedDict

from chains.citations import CiteSources, format_citations_markdown
from chains.citations.cite import read_numbers, read_references
from chains.retrieval import passage
from chains.state import Citation, CitationStyle, Context, Generated, Passage, RelatedDocument, Source


class ExtractedCitation(TypedDict):
    """A marker of an answer as it stands there; `start` and `end` are its place in characters."""

    raw: str
    title: str
    section: str | None
    start: int
    end: int


class CitationStats(TypedDict):
    """How many citations an answer has, and how many of them lead to a passage."""

    total: int
    matched: int
    unmatched: int


class ProcessedCitations(TypedDict):
    """The citations of an answer, matched and verified, with their links and a list in markdown."""

    citations: list[Citation]
    sources: list[Source]
    related_docs: list[RelatedDocument]
    markdown: str
    stats: CitationStats


def passages_of(documents: Iterable[Document]) -> list[Passage]:
    """Return documents of any retriever as passages, a `score` taken out of their metadata."""
    return [passage(document) for document in documents]


def extract_citations(text: str, passages: Sequence[Passage] = ()) -> list[ExtractedCitation]:
    """Return the markers of an answer in their order.

    Without passages, `[Title > Section]` and `[Source: Title]` are markers; with them, so is every title among them,
    and `[1]` stands for the first of them.
    """
    references, _ = read_references(text, passages)
    places = {(reference.start, reference.end) for reference in references}
    numbers = [one for one in read_numbers(text, passages) if (one.start, one.end) not in places] if passages else []
    return [
        ExtractedCitation(
            raw=text[one.start : one.end], title=one.title, section=one.section, start=one.start, end=one.end
        )
        for one in sorted([*references, *numbers], key=lambda one: (one.start, one.end))
    ]


def process_citations(
    answer: str, passages: Sequence[Passage], *, style: CitationStyle = "title"
) -> ProcessedCitations:
    """Return the citations of an answer, each matched to a passage and checked against its words."""
    shown = list(passages)
    state = Generated(
        question="", documents=shown, context=Context(text="", passages=shown), message=AIMessage(answer), answer=answer
    )
    result = CiteSources(style=style, min_citations=0, attribution=False)(state)
    citations = result["citations"]
    matched = sum(citation["matched"] for citation in citations)
    return ProcessedCitations(
        citations=citations,
        sources=result["sources"],
        related_docs=result["related_docs"],
        markdown=format_citations_markdown(citations),
        stats=CitationStats(total=len(citations), matched=matched, unmatched=len(citations) - matched),
    )


def deduplicate_citations(citations: Iterable[Citation]) -> list[Citation]:
    """Return the first citation of each title and section, whatever their case."""
    first: dict[tuple[str, str], Citation] = {}
    for citation in citations:
        first.setdefault((citation["title"].casefold(), (citation["section"] or "").casefold()), citation)
    return list(first.values())
