"""Resolve the numbers in a text or in a structured response to citations that are checked against passages."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import date
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages.content import Citation as Annotation
from pydantic import BaseModel

from chains.citations.cited_sentences import cited_sentences, clauses_of, sentences_of
from chains.citations.markers import code_ranges, inside
from chains.citations.verification import FEWEST_WORDS, verify
from chains.documents.naming import Place, place_in
from chains.retrieval import passage
from chains.state import Passage
from chains.text.letters import one_line
from chains.text.tokens import tokens

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
    """Return a citation of a file with the verdict on the sentence that it stands behind."""
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
