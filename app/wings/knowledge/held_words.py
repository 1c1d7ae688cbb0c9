"""Find which documents hold given words, and which words of a text come nearest to others."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import Any, NamedTuple

from langchain_core.documents import Document

from app.ledger.passages import Passages
from app.wiring.library import chunks_by_id
from chains.documents.library import parts_of
from chains.text.statements import sentence_bounds
from chains.text.tokens import tokens

# Numbers with their sign, separators and unit, comparisons before a number, and words. Other marks, white space, case
# and Markdown's emphasis may differ where words are the same.
_TOKEN = re.compile(r"(?:(?<!\w)[-\u2212])?\d+(?:[.,:/-]\d+)*|[<>≤≥±~]=?(?=\s*\d)|[%‰°$€£¥]|[^\W\d_]+")
ANCHOR = 4  # Tokens by which a text is looked up before it is compared whole.
LIKE_ENOUGH = 0.5  # Of the tokens of two sentences, how many have to be the same.
DOCUMENTS_AT_ONCE = 50
MOST_WORDS, VERY_SIMILAR = 0.8, 0.7  # Weights of the words, and cosine.

Tokens = tuple[str, ...]


class Words(NamedTuple):
    """Words that a document has to hold: those of a quote, and those of the head of its table, which may be none."""

    quote: Tokens
    head: Tokens = ()


def tokens_of(text: str) -> Tokens:
    """Return the words, numbers and units of a text in one case and form."""
    return tuple(_TOKEN.findall(unicodedata.normalize("NFKC", text).casefold()))


def text_of(chunks: Sequence[Document]) -> str:
    """Return the text of a document, with the heads of its tables behind it: some readers keep them apart."""
    ordered = sorted(chunks, key=lambda chunk: int(chunk.metadata["chunk_index"]))
    heads = dict.fromkeys(str(chunk.metadata.get("table_head") or "") for chunk in ordered)
    return "\n\n".join([*(part.text for part in parts_of(ordered)), *heads])


def documents_of(index: Passages, doc_ids: Iterable[str]) -> Iterator[list[Document]]:
    """Yield the documents that the index has of these, each as its passages."""
    wanted = list(doc_ids)
    for start in range(0, len(wanted), DOCUMENTS_AT_ONCE):
        ids = {doc_id: index.chunks_of(doc_id) for doc_id in wanted[start : start + DOCUMENTS_AT_ONCE]}
        chunks = chunks_by_id(index, [id_ for some in ids.values() for id_ in some])
        for some in ids.values():
            if passages := [chunks[id_] for id_ in some if id_ in chunks]:
                yield passages


def holders(wanted: Mapping[str, Words], documents: Iterable[Sequence[Document]]) -> Iterator[tuple[str, str]]:
    """Yield which words a document holds, each with the id of a passage that holds them whole, or nothing.

    The time grows with the sum of words and documents.
    """
    by_anchor: dict[Tokens, list[str]] = {}
    for key, words in wanted.items():
        by_anchor.setdefault(words.quote[:ANCHOR], []).append(key)
    lengths = sorted({len(anchor) for anchor in by_anchor})
    for passages in documents:
        text = tokens_of(text_of(passages))
        hits: set[str] = set()
        for place in range(len(text)):
            for length in lengths:
                for key in by_anchor.get(text[place : place + length], ()):
                    quote = wanted[key].quote
                    if key not in hits and text[place : place + len(quote)] == quote:
                        hits.add(key)
        yield from ((key, _passage(passages, wanted[key])) for key in hits if _holds(text, wanted[key].head))


def _passage(passages: Sequence[Document], words: Words) -> str:
    for passage in passages:
        text = tokens_of(f"{passage.page_content}\n\n{passage.metadata.get('table_head') or ''}")
        if _holds(text, words.quote) and _holds(text, words.head):
            return str(passage.id)
    return ""


def _holds(text: Tokens, words: Tokens) -> bool:
    return f" {' '.join(words)} " in f" {' '.join(text)} " if words else True


def says(content: str, metadata: Mapping[str, Any], question: str) -> bool:
    """Return whether a passage says what is asked: it holds most of the question's words, or is very similar."""
    words = [word for word in tokens(question) if word.weight > 0]
    held = {word.key for word in tokens(f"{metadata.get('title')}\n{metadata.get('section')}\n{content}")}
    share = fsum(word.weight for word in words if word.key in held) / (fsum(word.weight for word in words) or 1)
    return share >= MOST_WORDS or (metadata.get("score") or 0) >= VERY_SIMILAR


def nearest_words(quote: str, texts: Iterable[str]) -> str | None:
    """Return the sentences of the texts that are most like a quote; None where none is like it."""
    wanted = Counter(tokens_of(quote))
    number = max(1, sum(1 for _ in sentence_bounds(quote)))
    scored = [(_likeness(wanted, Counter(tokens_of(one))), one) for text in texts for one in _windows(text, number)]
    score, best = max(scored, default=(0.0, ""))
    return best if score >= LIKE_ENOUGH else None


def _windows(text: str, number: int) -> Iterator[str]:
    """Yield each run of so many sentences."""
    bounds = list(sentence_bounds(text))
    for place in range(max(1, len(bounds) - number + 1) if bounds else 0):
        window = bounds[place : place + number]
        yield text[window[0][0] : window[-1][1]]


def _likeness(first: Counter[str], second: Counter[str]) -> float:
    """Return the share of tokens that both have (Dice's coefficient)."""
    return 2 * (first & second).total() / max(1, first.total() + second.total())
