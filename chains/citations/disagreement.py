"""Find two documents that give different figures for what an answer says."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from chains.citations.clashes import FEWEST_SHARED, figures, written
from chains.citations.evidence import Evidence, Span, evidence_of
from chains.citations.numbering import source_key
from chains.state import Citation, Passage
from chains.text.tokens import WEIGHTS, Token, tokens
from chains.text.words import stem, word_set

# Verbs that give a figure: "costs 40 dollars" and "charges 55 dollars" speak of one thing.
_GIVES: Final = frozenset(map(stem, word_set("amount apply bear carry charge cost equal pay stay")))


def find_disagreement(answer: str, citations: Sequence[Citation], shown: Sequence[Passage]) -> tuple[str, str] | None:
    """Return the figure of a cited statement, and the other one that another document's statement gives for it.

    Precision comes first. Both statements have to be of the same words but for verbs that give a figure, where the
    titles and sections above them count as well; both figures of the same measure, and neither in the other passage.
    Years, labels, estimates and rows of tables are left out.
    """
    stated = {word.key for word in tokens(answer) if word.kind == "number"}
    if not stated:
        return None
    for passage, evidence, span in _cited(citations, shown):
        text = evidence.text[span.start : span.end]
        others = [evidence_of(one) for one in shown if _document(one) != _document(passage)]
        for word, measure in figures(text, span.tokens):
            for other in others if word.key in stated else ():
                if word.key not in other.numbers and (rival := _rival(evidence, span, measure, other)):
                    return written(text, word), rival
    return None


def _cited(citations: Sequence[Citation], shown: Sequence[Passage]) -> Iterator[tuple[Passage, Evidence, Span]]:
    """Yield each statement that a citation quotes, with its passage."""
    for citation in citations:
        for passage in shown if citation["matched"] and citation["quote"] else ():
            start = passage["content"].find(citation["quote"])
            if start >= 0 and passage["metadata"].get("doc_id") == citation["doc_id"]:
                evidence, end = evidence_of(passage), start + len(citation["quote"])
                yield from ((passage, evidence, span) for span in evidence.spans if start <= span.start < end)
                break


def _rival(evidence: Evidence, span: Span, measure: Collection[str], other: Evidence) -> str | None:
    """Return the figure that a statement of the other passage gives for what the span counts."""
    subject, words = _subject(span.tokens), {word.key for word in span.tokens if word.weight > 0}
    for theirs in other.spans:
        if len(words.intersection(word.key for word in theirs.tokens)) < FEWEST_SHARED:
            continue
        found, text = _subject(theirs.tokens), other.text[theirs.start : theirs.end]
        is_same = subject <= found | other.heading and found <= subject | evidence.heading and subject & found
        if not is_same or text.startswith("|"):
            continue
        for word, counted in figures(text, theirs.tokens):
            if word.key not in evidence.numbers and not counted.isdisjoint(measure):
                return written(text, word)
    return None


def _subject(words: Sequence[Token]) -> frozenset[str]:
    """Return the words that say what a statement is about."""
    named = (word for word in words if word.kind != "number" and word.weight >= WEIGHTS["word"])
    return frozenset(word.key for word in named) - _GIVES


def _document(passage: Passage) -> object:
    return source_key(passage)[0]
