"""The stages as plain functions, for programs that do not use the whole chain."""

from collections.abc import Iterable

from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from typing_extensions import TypedDict

from chains.citations import CiteSources, format_citations_markdown
from chains.citations.references import read_numbers, read_references
from chains.context import format_context as write_context
from chains.documents.source_urls import source_urls
from chains.ports import TokenCounter
from chains.retrieval import passage
from chains.state import Citation, CitationStyle, Context, Generated, Passage, RelatedDocument, Source


class CitationMetadata(TypedDict):
    """What a passage offers to be cited by."""

    title: str
    section: str | None
    source_urls: list[str]
    doc_id: str | None
    score: float | None


class ExtractedCitation(TypedDict):
    """A marker of an answer as it stands there; `start` and `end` are its place in characters."""

    raw: str
    title: str
    section: str | None
    start: int
    end: int


class CitationStats(TypedDict):
    """How many citations an answer has, and how many of them lead to a passage.

    `[A Title]` alone counts where a passage has that title. Other bracketed words, `[sic]` or an invented title, are no
    citation and count nowhere; `[Invented > Section]` counts as unmatched.
    """

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


def passages_of(documents: Iterable[Document | Passage | str]) -> list[Passage]:
    """Return documents of any retriever as passages, a `score` taken out of their metadata; passages as they are."""
    made = (Document(document) if isinstance(document, str) else document for document in documents)
    return [passage(given) if isinstance(given, Document) else given for given in made]


def format_context(
    passages: Iterable[Document | Passage | str],
    *,
    max_tokens: int = 2000,
    style: CitationStyle = "title",
    tokens: TokenCounter | None = None,
    passage_characters: int | None = None,
) -> Context:
    """Return each passage under its header, in rank order, within `max_tokens`; see `chains.context`."""
    return write_context(
        passages_of(passages), max_tokens=max_tokens, style=style, tokens=tokens, passage_characters=passage_characters
    )


def citation_metadata(passages: Iterable[Document | Passage]) -> list[CitationMetadata]:
    """Return title, section, addresses, document and score of each passage, in order."""
    return [
        CitationMetadata(
            title=str(found["metadata"].get("title") or ""),
            section=found["metadata"].get("section") or None,
            source_urls=source_urls(found["metadata"].get("source_urls")),
            doc_id=found["metadata"].get("doc_id"),
            score=found["score"],
        )
        for found in passages_of(passages)
    ]


def extract_citations(text: str, passages: Iterable[Document | Passage] = ()) -> list[ExtractedCitation]:
    """Return the markers of an answer in their order.

    Pass the passages that the model was shown to get every marker: `[Title]` alone is one only where a passage has that
    title, and `[1]` only where there is a first passage. Without passages, only `[Title > Section]` and
    `[Source: Title]` are markers.
    """
    shown = passages_of(passages)
    references, _ = read_references(text, shown)
    places = {(reference.start, reference.end) for reference in references}
    numbers = [one for one in read_numbers(text, shown) if (one.start, one.end) not in places] if shown else []
    return [
        ExtractedCitation(
            raw=text[one.start : one.end], title=one.title, section=one.section, start=one.start, end=one.end
        )
        for one in sorted([*references, *numbers], key=lambda one: (one.start, one.end))
    ]


def process_citations(
    answer: str, passages: Iterable[Document | Passage], *, style: CitationStyle = "title"
) -> ProcessedCitations:
    """Return the citations of an answer, each matched to a passage and checked against its words."""
    shown = passages_of(passages)
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
