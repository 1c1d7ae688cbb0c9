"""List what belongs to an answer: its sources and citations, related documents, the passages closest to a question."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chains.citations.evidence import Evidence, evidence_of, match
from chains.citations.support import shorten, spread
from chains.documents.audience import category_of
from chains.documents.naming import place_in, place_name
from chains.metadata import NEAREST
from chains.state import Citation, ClosestPassage, Generated, Passage, RelatedDocument, Source, passages_of
from chains.text.quantities import quantities
from chains.text.ranges import ranged
from chains.text.tokens import Token, tokens


def sources_of(citations: Sequence[Citation], passages: Sequence[Passage]) -> list[Source]:
    """Return the external pages of the matched citations, unique by address, in order of appearance."""
    orgs = {passage["metadata"].get("doc_id"): passage["metadata"].get("source_org") for passage in passages}
    sources: dict[str, Source] = {}
    for citation in citations:
        for url in citation["source_urls"] if citation["matched"] else []:
            sources.setdefault(
                url,
                Source(
                    title=citation["title"],
                    org=orgs.get(citation["doc_id"]),
                    url=url,
                    section=citation["section"],
                    page=citation["page"],
                ),
            )
    return list(sources.values())


def cited_sources(citations: Sequence[Citation]) -> set[tuple[object, object]]:
    """Return the sources of the valid citations: each document and page once."""
    return {
        (citation["doc_id"] or citation["title"], citation["page"]) for citation in citations if citation["matched"]
    }


def related_documents(passages: Sequence[Passage]) -> list[RelatedDocument]:
    """Return the parent documents of the retrieved passages, each once, in rank order."""
    documents: dict[str, RelatedDocument] = {}
    for passage in passages:
        metadata = passage["metadata"]
        place = place_in(metadata)
        key = place["doc_id"] or place["title"]
        if key not in documents:
            category = category_of([metadata.get("category")]) or metadata.get("category")
            documents[key] = RelatedDocument(
                title=place["title"], category=category, doc_id=place["doc_id"], url=place["url"]
            )
    return list(documents.values())


def format_citations_markdown(citations: Sequence[Citation]) -> str:
    """Return the matched citations as a numbered markdown list; one without an address is an *(Internal Document)*."""
    labels: dict[str, str] = {}
    for citation in citations:
        if citation["matched"]:
            name = place_name(citation["title"], citation["section"])
            urls = citation["source_urls"]
            labels.setdefault(name, f"[{name}]({urls[0]})" if urls else f"{name} *(Internal Document)*")
    return "\n".join(f"{number}. {label}" for number, label in enumerate(labels.values(), start=1))


MOST: Final = 3
PASSAGE_LIMIT: Final = 600  # The most characters of a passage that are shown, but for a longer statement.
_HEADING: Final = 0.8  # What a word is worth that only the passage's title or section holds.
_LEAST_RARITY: Final = 0.3
_SAID: Final = frozenset({"sentence", "item", "row", "code"})


def closest_passages(question: str, passages: Sequence[Passage]) -> list[ClosestPassage]:
    """Return the best passages in their order, at most three, each with its section up to `PASSAGE_LIMIT` characters.

    The retriever's order stays, because it finds more of the answers than an order by words does. What is marked is the
    statement that holds most of the question's words, whether they stand in it, near it or in the passage's heading; a
    rare word counts for more. Of several rows of a table that hold as much, none is marked.
    """
    words = [word for word in tokens(question) if word.weight > 0]
    evidence = [evidence_of(passage) for passage in passages]
    held = [sum(word.key in one.occurrences or word.key in one.heading for one in evidence) for word in words]
    rarity = np.log((len(evidence) + 1) / (np.array(held) + 0.5))
    weights = np.asarray(np.array([word.weight for word in words]) * (_LEAST_RARITY + rarity), dtype=np.float32)
    return [
        _closest(passage, one, *_best(question, words, weights, one))
        for passage, one in zip(passages[:MOST], evidence, strict=False)
    ]


def closest_of(state: Generated, unanswered: Sequence[int]) -> list[ClosestPassage]:
    """Return the closest passages in the retriever's order, but first the one that a model names which declines.

    Where no passage reaches the threshold, they are the nearest below it. The questions of a message that are not
    answered get theirs in turn.
    """
    if parts := state.get("parts"):
        documents = state["documents"] or state.get("nearest", [])
        found = [
            closest_passages(parts[part]["query"], [one for _, one in passages_of(part, documents)])
            for part in unanswered or range(len(parts))
        ]
        unique = {(one["doc_id"], one["quote"]): one for turn in zip_longest(*found) for one in turn if one}
        return list(unique.values())[:MOST]
    passages = state["documents"] or state.get("nearest", [])
    if (place := state["message"].response_metadata.get(NEAREST)) is not None:
        nearest = state["context"]["passages"][place]
        passages = [nearest, *(one for one in passages if one is not nearest)]
    return closest_passages(state.get("search_query") or state["question"], passages)


def _best(question: str, words: Sequence[Token], weights: NDArray[np.float32], evidence: Evidence) -> tuple[int, bool]:
    """Return the place of the statement that fits best, -1 where there is none, and whether to mark it."""
    statements = evidence.statements
    said = [place for place, statement in enumerate(statements) if statement.kind in _SAID]
    if not said:
        return -1, False
    headed = np.array([_HEADING if word.key in evidence.heading else 0.0 for word in words], dtype=np.float32)
    strengths = match(words, evidence, None)
    fits = np.maximum(spread(strengths), headed) @ weights
    best = max(said, key=lambda place: fits[place])
    if statements[best].kind != "row":
        return best, True
    block = statements[best].block  # A note in the table is no row of it.
    rows = [place for place in said if statements[place].block == block and statements[place].kind == "row"]
    held = strengths[rows] @ weights
    in_range = np.array(ranged([statements[row] for row in rows], quantities(question)), dtype=np.float32)
    worth = held + in_range * float(held.max() or 1)
    order = np.argsort(-worth, kind="stable")
    is_sure = len(rows) == 1 or bool(worth[order[0]] > worth[order[1]])
    return (rows[int(order[0])] if is_sure else best), is_sure


def _around(evidence: Evidence, best: int) -> tuple[int, int]:
    """Return the section, or as many whole statements around one as fit; those of its block come first."""
    statements, text = evidence.statements, evidence.text
    first = last = best
    for within in (True, False):
        for step in (-1, 1):
            while 0 <= (place := (first if step < 0 else last) + step) < len(statements):
                start, end = statements[min(first, place)].start, statements[max(last, place)].end
                is_beyond = within and statements[place].block != statements[best].block
                if statements[place].kind == "heading" or is_beyond or end - start > PASSAGE_LIMIT:
                    break
                first, last = min(first, place), max(last, place)
    start, sign = statements[first].start, text.rfind("\n", 0, statements[first].start) + 1
    if not text[sign:start].strip(" \t>-*+•0123456789.)[]xX"):
        start = sign  # The sign of a list item or a row's bar belongs to the quote.
    return shorten(start, statements[last].end, text, PASSAGE_LIMIT)


def _closest(passage: Passage, evidence: Evidence, best: int, is_sure: bool) -> ClosestPassage:
    metadata, text, statements = passage["metadata"], passage["content"], evidence.statements
    start, end = _around(evidence, best) if best >= 0 else (0, 0)
    table_head = ""
    if text[start:].startswith("|"):
        table_head = str(metadata.get("table_head") or "")
        row = next((one for one in statements if one.start == start and one.kind == "row"), None)
        heads = [one.words for one in statements if row and one.kind == "head" and one.block == row.block]
        if row and heads:
            table_head = "\n".join([heads[0], f"|{'---|' * len(row.cells)}", *heads[1:]])
    return ClosestPassage(
        **place_in(metadata),
        quote=text[start:end],
        start=start,
        end=end,
        marked=text[statements[best].start : min(statements[best].end, end)] if is_sure else "",
        table_head=table_head,
        score=passage["score"],
    )
