"""Make the certificate of an answer: what each of its sentences rests on, and what made it."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain, takewhile
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import Field
from typing_extensions import TypedDict

from app.wings.knowledge.verification import VERSION, Rule, digest, heading_of, marker_filter, proving_rule, seal
from app.wiring.index import Index
from app.wiring.library import Catalogue
from chains.citations.cited_sentences import cited_sentences, sentences_of
from chains.documents.audience import caller_audience
from chains.state import Answer, Citation, Outcome, Passage


class CertifiedSource(TypedDict):
    """Where the words that prove a sentence stand; null for what cannot be known."""

    doc_id: str | None
    title: str
    section: str
    table_head: Annotated[str, Field(description="First row of the table that the quote is a row of.")]
    file: Annotated[str | None, Field(description="Path below the folder of the documents.")]
    page: int | None
    sha256: Annotated[str | None, Field(description="SHA-256 of the file.")]
    bytes: Annotated[tuple[int, int] | None, Field(description="Where the quote stands in a file of UTF-8 text.")]
    characters: Annotated[tuple[int, int], Field(description="Where it stands in the text that was read of the file.")]
    quote: Annotated[str, Field(examples=["The rate of GST on imports into Singapore is 9 %."])]
    support: Annotated[float, Field(description="How well the quote supports the sentence, 0 to 1.")]
    rule: Annotated[Rule | None, Field(description="The rule that proves it; null: somebody has to read the quote.")]


class CertifiedSentence(TypedDict):
    """A sentence of the answer: its offsets in characters, and its words without markers."""

    start: int
    end: int
    says: Annotated[str, Field(examples=["It is 9 %."])]
    sources: list[CertifiedSource]


class Certificate(TypedDict):
    """What proves an answer: `sha256` is the hash of all the rest, those of prompts and settings of what made it."""

    version: int
    question: Annotated[str, Field(examples=["What is the GST rate on imports?"])]
    answer: Annotated[str, Field(examples=["It is 9 % [GST Guide > Rate]."])]
    outcome: Outcome
    asked_at: Annotated[str, Field(description="UTC, ISO 8601.")]
    sentences: list[CertifiedSentence]
    model: str | None
    index: Annotated[str | None, Field(description="Version of the index.")]
    prompts: str
    settings: str
    sha256: str


MOST_BYTES = 20 * 2**20  # A larger file is not read for a certificate; it then has no hash.
FILES = 64


def certificate(answer: Answer, index: Index) -> Certificate:
    """Return what proves an answer, for `verification.verify`. Raise VectorStoreError if the index cannot be read."""
    passages = None if index.settings.retrieval.url else index.current()
    catalogue = index.library.catalogue_of(passages, caller_audience()) if passages else None
    prompts, settings = index.caches.facts
    sealed = seal(
        {
            "version": VERSION,
            "question": answer["question"],
            "answer": answer["answer"],
            "outcome": answer["outcome"],
            "asked_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "sentences": list(_sentences(answer, catalogue)),
            "model": answer["metadata"]["model"],
            "index": passages.version if passages else None,
            "prompts": digest(prompts),
            "settings": digest(settings),
        }
    )
    return cast("Certificate", sealed)


def _sentences(answer: Answer, catalogue: Catalogue | None) -> Iterator[dict[str, Any]]:
    marked = [citation for citation in answer["citations"] if not citation["attributed"]]
    markers = [(citation["start"], citation["end"]) for citation in marked]
    found = sentences_of(answer["answer"], markers)
    # A question mark in a marker ends no sentence.
    sentences = [sentence for sentence in found if not any(start < sentence.start < end for start, end in markers)]
    cited: list[tuple[Citation, Sequence[int]]] = list(zip(marked, cited_sentences(sentences, markers), strict=True))
    for citation in answer["citations"]:
        if citation["attributed"]:
            start, end = citation["start"], citation["end"]
            cited.append((citation, [at for at, one in enumerate(sentences) if one.start < end and start < one.end]))
    sources = [
        [
            source
            for citation, places in cited
            if place in places and citation["matched"] and citation["quote"]
            if (source := _source(citation, answer["documents"], catalogue))
        ]
        for place in range(len(sentences))
    ]
    unmarked = marker_filter(chain.from_iterable(sources))
    for sentence, proving in zip(sentences, sources, strict=True):
        # A marker of no source is shown to readers like any words, and proven by nothing.
        says = unmarked(answer["answer"][sentence.start : sentence.end])
        for source in proving:
            source["rule"] = proving_rule(says, source["quote"], heading_of(source))
        yield {"start": sentence.start, "end": sentence.end, "says": says, "sources": proving}


def _source(citation: Citation, documents: Sequence[Passage], catalogue: Catalogue | None) -> dict[str, Any] | None:
    """Return where a citation's quote stands; None where no retrieved passage holds it."""
    quote, doc_id = citation["quote"], citation["doc_id"]
    holding = [one for one in documents if one["metadata"].get("doc_id") == doc_id and quote in one["content"]]
    if not holding:
        return None
    metadata, (before, _, _) = holding[0]["metadata"], holding[0]["content"].partition(quote)
    start = metadata.get("start_char", 0) + len(before)
    # The first row of the Markdown table that the quote is a row of.
    above = ["|"] * before.endswith("\n") + before.splitlines()[::-1]
    rows = list(takewhile(lambda line: line.lstrip().startswith("|"), above))
    table_head = rows[-1].strip() if "|" in quote and len(rows) > 1 else ""
    return {
        "doc_id": doc_id,
        "title": citation["title"],
        "section": str(metadata.get("section") or ""),
        "table_head": table_head or str(metadata.get("table_head") or "").strip(),
        "file": metadata.get("file_path"),
        "page": citation["page"],
        **_in_file(doc_id, quote, start, catalogue),
        "characters": [start, start + len(quote)],
        "quote": quote,
        "support": citation["support"],
    }


def _in_file(doc_id: str | None, quote: str, start: int, catalogue: Catalogue | None) -> Mapping[str, Any]:
    """Return the file's SHA-256 and the range of the quote in its bytes; null for what cannot be known."""
    source = catalogue.sources.get(doc_id or "") if catalogue else None
    try:
        state = source.path.stat() if source else None
        if source is None or state is None or state.st_size > MOST_BYTES:
            return {"sha256": None, "bytes": None}
        sha256, text = _read(source.path, state.st_mtime_ns, state.st_size)
    except OSError:
        return {"sha256": None, "bytes": None}
    if text is None or text[start : start + len(quote)] != quote:
        return {"sha256": sha256, "bytes": None}
    first = len(text[:start].encode())
    return {"sha256": sha256, "bytes": [first, first + len(quote.encode())]}


@lru_cache(maxsize=FILES)
def _read(path: Path, _written: int, _size: int) -> tuple[str, str | None]:
    content = path.read_bytes()
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = None
    return hashlib.sha256(content).hexdigest(), text
