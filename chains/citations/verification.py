"""Sentences and the passages that may support them -> the passage that does best, how well, and by which words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from chains.citations.evidence import evidence_of
from chains.citations.sentences import Sentence
from chains.citations.support import ceiling, support
from chains.ports import WordSimilarity
from chains.state import Passage
from chains.text.tokens import tokens

# Sentences score 1.00 against the chunk they come from, and reach 0.49 against a random one once in a hundred.
LEAST_TO_ATTRIBUTE = 0.65
FEWEST_WORDS_TO_ATTRIBUTE = 4
COMPARED_AGAIN = 2


@dataclass(frozen=True, slots=True)
class Verified:
    """The passage that supports a sentence, the words that do, and how well (0-1)."""

    passage: Passage | None
    quote: str = ""
    support: float = 0.0
    contradicted: bool = False


def verify(sentences: Sequence[str], passages: Sequence[Passage], similarity: WordSimilarity | None) -> Verified:
    """Return the passage that supports one of the sentences best; the first passage where none does.

    All pairs are compared by shared stems, and the best few again with word vectors, which cost more.
    """
    pairs = list(product(passages, sentences))
    scored = [(support(sentence, evidence_of(passage)), passage, sentence) for passage, sentence in pairs]
    if similarity is not None:
        scored.sort(key=lambda entry: -entry[0].score)
        scored = [
            (support(sentence, evidence_of(passage), similarity=similarity), passage, sentence)
            for _, passage, sentence in scored[:COMPARED_AGAIN]
        ]
    best = Verified(passages[0] if passages else None)
    for found, passage, _ in scored:
        if found.score > best.support or (found.contradicted and not best.support):
            best = Verified(passage, found.quote, found.score, found.contradicted)
    return best


def attribute(sentences: Sequence[Sentence], shown: Sequence[Passage]) -> Iterator[tuple[Sentence, Verified]]:
    """Yield the sentences that a shown passage supports well by its own words, each with that passage."""
    evidence = [evidence_of(passage) for passage in shown]
    for sentence in sentences:
        words = [word for word in tokens(sentence.words) if word.weight > 0]
        if len(words) < FEWEST_WORDS_TO_ATTRIBUTE:
            continue
        ceilings = [ceiling(words, passage) for passage in evidence]
        likely = [rank for rank in range(len(shown)) if ceilings[rank] >= LEAST_TO_ATTRIBUTE]
        for rank in sorted(likely, key=lambda rank: -ceilings[rank])[:COMPARED_AGAIN]:
            verified = verify([sentence.words], [shown[rank]], None)
            if verified.support >= LEAST_TO_ATTRIBUTE and not verified.contradicted:
                yield sentence, verified
                break
