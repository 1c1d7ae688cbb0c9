"""Quote the retrieved passages that are closest to a question."""

import re
from collections.abc import Sequence
from itertools import islice, zip_longest
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chains.citations.evidence import Evidence, evidence_of
from chains.citations.sources import external_urls
from chains.citations.support import QUOTE_LIMIT, match, shorten, spread
from chains.metadata import CLOSEST
from chains.state import ClosestPassage, Generated, Passage, passages_of
from chains.text.tokens import Token, tokens

MOST: Final = 3
_HEADING: Final = 0.8  # What a word is worth that only the passage's title or section holds.
_LEAST_RARITY: Final = 0.3
_TABLE_RULE: Final = re.compile(r"[ \t]*\n[ \t]*\|?[ \t]*:?-{2,}[-:| \t]*(?:\n|\Z)")


def closest_passages(question: str, passages: Sequence[Passage]) -> list[ClosestPassage]:
    """Return the best passages in their order, at most three, each with the words that fit the question best.

    The retriever's order stays, because it finds more of the answers than an order by words does. A quote begins with
    the sentence, list item or table row that holds most of the question's words, whether they stand in it, near it or
    in the passage's heading; a rare word counts for more.
    """
    words = [word for word in tokens(question) if word.weight > 0]
    evidence = [evidence_of(passage) for passage in passages]
    weights = _weigh(words, evidence)
    quotes = (_quote(words, weights, one) for one in evidence)
    return list(islice(map(_closest, passages, quotes), MOST))


def closest_of(state: Generated, unanswered: Sequence[int]) -> list[ClosestPassage]:
    """Return the closest passages in the order of the model's match scores; else in the retriever's order.

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
    shown, places = state["context"]["passages"], state["message"].response_metadata.get(CLOSEST)
    passages = [shown[place] for place in places] if places else state["documents"] or state.get("nearest", [])
    return closest_passages(state.get("search_query") or state["question"], passages)


def _weigh(words: Sequence[Token], evidence: Sequence[Evidence]) -> NDArray[np.float32]:
    """Return what each word carries, times how rare it is among the passages."""
    held = [sum(word.key in one.occurrences or word.key in one.heading for one in evidence) for word in words]
    rarity = np.log((len(evidence) + 1) / (np.array(held) + 0.5))
    return np.asarray(np.array([word.weight for word in words]) * (_LEAST_RARITY + rarity), dtype=np.float32)


def _quote(words: Sequence[Token], weights: NDArray[np.float32], evidence: Evidence) -> tuple[int, int]:
    """Return the bounds of the quote, which is empty where the passage has no words."""
    statements = [place for place in range(len(evidence.spans)) if not _is_heading(evidence, place)]
    if not statements:
        return 0, 0
    headed = np.array([_HEADING if word.key in evidence.heading else 0.0 for word in words], dtype=np.float32)
    fits = np.maximum(spread(match(words, evidence, None)), headed) @ weights
    best = max(statements, key=lambda place: fits[place])
    return shorten(evidence.spans[best].start, _end(evidence, best), evidence.text)


def _end(evidence: Evidence, first: int) -> int:
    """Return where the quote ends: behind a table row, or behind the sentences that follow within `QUOTE_LIMIT`."""
    start, end = evidence.spans[first].start, evidence.spans[first].end
    for place in range(first + 1, len(evidence.spans)):
        too_long = evidence.spans[place].end - start > QUOTE_LIMIT
        if too_long or _line_start(evidence, place - 1) == "|" or _is_heading(evidence, place):
            break
        end = evidence.spans[place].end
    return end


def _is_heading(evidence: Evidence, place: int) -> bool:
    """Return whether a statement is a heading, or the names of a table's columns."""
    return _line_start(evidence, place) == "#" or bool(_TABLE_RULE.match(evidence.text, evidence.spans[place].end))


def _line_start(evidence: Evidence, place: int) -> str:
    """Return the first sign of the line on which a statement begins."""
    start = evidence.spans[place].start
    return evidence.text[evidence.text.rfind("\n", 0, start) + 1 : start + 1].lstrip()[:1]


def _closest(passage: Passage, quote: tuple[int, int]) -> ClosestPassage:
    metadata, (start, end) = passage["metadata"], quote
    return ClosestPassage(
        doc_id=metadata.get("doc_id"),
        title=str(metadata.get("title") or ""),
        section=metadata.get("section") or None,
        page=metadata.get("page") or None,
        url=next(iter(external_urls(metadata)), None),
        quote=passage["content"][start:end],
        start=start,
        end=end,
        score=passage["score"],
    )
