"""The stages as plain functions, and citations in texts and structured responses that another program wrote."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import date
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.messages.content import Citation as Annotation
from pydantic import BaseModel
from typing_extensions import TypedDict

from chains.citations import CiteSources, format_citations_markdown
from chains.citations.cited_sentences import cited_sentences, clauses_of, sentences_of
from chains.citations.markers import code_ranges, inside
from chains.citations.references import read_numbers, read_references
from chains.citations.verification import FEWEST_WORDS, verify
from chains.context import FormatContext
from chains.documents.naming import Place, place_in, source_urls
from chains.ports import FourCharacters, TokenCounter
from chains.retrieval.passages import passage
from chains.state import Citation, CitationStyle, Context, Generated, Passage, RelatedDocument, Source
from chains.text.letters import one_line
from chains.text.tokens import tokens


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
    """Return each passage under its header, in rank order, within `max_tokens`; see `FormatContext.write`."""
    return FormatContext(max_tokens, style, tokens or FourCharacters(), passage_characters).write(passages_of(passages))


def citation_metadata(passages: Iterable[Document | Passage]) -> list[CitationMetadata]:
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


MARKER = re.compile(r"\[(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)(?:, unsupported)?\](?!\()")
UNTITLED_CHARACTERS = 60
"""Of the words of a passage without a title, which stand in its place."""

CITATIONS = "citations"
"""The field of a structured response that holds the numbers of the documents for the values beside it."""


class CitedSource(Place):
    """What a number stands for: the n-th source has the number n. `passages` are those cited of it."""

    quote: str
    passages: list[str]


def source_of(document: Document | Passage) -> CitedSource:
    found = passage(document) if isinstance(document, Document) else document
    place, text = place_in(found["metadata"]), found["content"]
    title = place["title"] or one_line(text)[:UNTITLED_CHARACTERS]
    return {**place, "title": title, "quote": text, "passages": [text]}


def annotations_of(text: str, sources: Sequence[CitedSource], *, since: int = 0) -> Iterator[Annotation]:
    """Yield a citation for each number in the text's markers, in order, from the place `since`; in code is none."""
    code = code_ranges(text)
    markers = [marker for marker in MARKER.finditer(text) if not inside(marker.start(), code)]
    places = [marker.span() for marker in markers]
    sentences = sentences_of(text, places)
    clauses = clauses_of(text, sentences, places)
    for marker, indices in zip(markers, cited_sentences(sentences, places), strict=True):
        claims = [sentences[index].words for index in indices] + [clauses.get(marker.start(), "")]
        for number in map(int, re.findall(r"\d+", marker[1]) if marker.start() >= since else ()):
            yield _annotation(number, sources, claims) | {"start_index": marker.start(), "end_index": marker.end()}


def structured_citations(response: Any, documents: Iterable[Document | Passage]) -> list[Annotation]:
    """Return the citations in what a model `with_structured_output` returned, checked against the documents it read.

    The number 1 is the first document. A marker in a text (`[1]`) cites for its sentence; numbers in a field
    `citations: list[int]` cite for the texts and figures beside it, each of which gets the number that supports it
    best. A figure is read with the description of its field, or its name: "Price of a ticket 6.5".

    Each has a `title` and the `cited_text`, the words of the document that support it. Its `extras` hold the `field`,
    such as `items[0].rate`, `number`, `section`, `page`, `doc_id`, `support` (0 to 1), `contradicted` and `verified`.

    Args:
        response: a pydantic object, a dataclass or a dict.
        documents: what the prompt showed, in its order.
    """
    return list(citations_in(response, list(map(source_of, documents))))


def citations_in(response: Any, sources: Sequence[CitedSource]) -> Iterator[Annotation]:
    """Yield the citations of the texts and figures in a structured response, each with its `field`."""
    for field, label, value, numbers in _values(response, "", "", ()):
        found = list(annotations_of(value, sources))
        if not found and numbers:
            sentences = [sentence.words for sentence in sentences_of(value, [])]
            is_short = sum(word.weight > 0 for word in tokens(value)) < FEWEST_WORDS
            claims = [f"{label} {value}"] if is_short or not sentences else sentences
            cited = [[_annotation(number, sources, [claim]) for number in numbers] for claim in claims]
            found = [max(some, key=lambda one: one["extras"].get("support", -1)) for some in cited]
        yield from (one | {"extras": {**one["extras"], "field": field}} for one in found)


def _values(
    value: Any, field: str, label: str, numbers: Sequence[int]
) -> Iterator[tuple[str, str, str, Sequence[int]]]:
    """Yield the texts and figures of a response: the field, what it is called, the value, the numbers for it."""
    labels: dict[str, str | None] = {}
    if isinstance(value, BaseModel):
        labels = {name: one.description for name, one in type(value).model_fields.items()}
        value = dict(value)
    elif is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        given = value.get(CITATIONS)
        if isinstance(given, Sequence) and given and all(type(number) is int for number in given):
            numbers, value = given, {name: inner for name, inner in value.items() if name != CITATIONS}
        for name, inner in value.items():
            called = labels.get(name) or str(name).replace("_", " ")
            yield from _values(inner, f"{field}.{name}".removeprefix("."), called, numbers)
    elif isinstance(value, date):
        yield field, label, f"{value.day} {value:%B %Y}", numbers
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for place, inner in enumerate(value):
            yield from _values(inner, f"{field}[{place}]", label, numbers)
    elif value is not None and not isinstance(value, bool):
        yield field, label, str(getattr(value, "value", value)), numbers


def checked_files(blocks: Sequence[Any]) -> list[Any]:
    """Return a message's blocks, its citations of files checked against what a search of the provider has found.

    OpenAI's `file_search` tells what it found with `include=["file_search_call.results"]`. Citations of files whose
    words are not there stay as they are.
    """
    files: dict[str, list[str]] = {}
    for block in blocks:
        for result in block.get("output") or () if block["type"] == "server_tool_result" else ():
            if isinstance(result, Mapping) and result.get("text"):
                files.setdefault(str(result.get("file_id")), []).append(result["text"])
    return [
        {**block, "annotations": [_checked_file(one, block["text"], files) for one in block["annotations"]]}
        if block.get("annotations")
        else block
        for block in blocks
    ]


def _checked_file(cited: Any, text: str, files: Mapping[str, list[str]]) -> Any:
    extras = cited.get("extras", {})
    texts, end = files.get(extras.get("file_id")), extras.get("file_index", extras.get("index"))
    if not texts or end is None:
        return cited
    before = [sentence.words for sentence in sentences_of(text, []) if sentence.start < end]
    place = Place(title=cited.get("title", ""), section=None, page=None, doc_id=extras["file_id"], url=None)
    found = _annotation(1, [{**place, "quote": texts[0], "passages": texts}], before[-1:])
    verdict = {name: found["extras"][name] for name in ("support", "contradicted", "verified")}
    return {**cited, "cited_text": found["cited_text"], "extras": {**extras, **verdict}}


def _annotation(number: int, sources: Sequence[CitedSource], claims: Sequence[str]) -> Annotation:
    """Return what the source of a number says to one of the claims, the one that it supports best."""
    if not 1 <= number <= len(sources):
        return Annotation(type="citation", title="", cited_text="", extras={"number": number, "verified": False})
    source = sources[number - 1]
    passages = [Passage(content=text, metadata={"title": source["title"]}, score=None) for text in source["passages"]]
    found = verify(claims, passages, None)
    checked = {"support": found.score, "contradicted": found.contradicted, "verified": found.supported}
    return annotation(source, found.quote or source["quote"], {"number": number, **checked})


def annotation(place: Place, cited_text: str, checked: Mapping[str, Any]) -> Annotation:
    """Return a citation of LangChain; `extras` hold the rest of the place, and what is `checked`."""
    extras = {name: place[name] for name in ("section", "page", "doc_id")} | dict(checked)
    made = Annotation(type="citation", title=place["title"], cited_text=cited_text, extras=extras)
    return made | {"url": place["url"]} if place["url"] else made
