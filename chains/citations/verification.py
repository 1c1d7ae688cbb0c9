"""Sentences and the passages that may support them -> the passage that does best, how well, and by which words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

from chains.citations.asked import NOTHING_ASKED, Asked
from chains.citations.evidence import evidence_of
from chains.citations.sentences import Sentence
from chains.citations.support import Support, ceiling, support
from chains.ports import WordSimilarity
from chains.state import Passage
from chains.text.tokens import tokens

# `python -m benchmarks.models.labelled` says what this keeps of answers that language models wrote to our questions.
LEAST_SUPPORT: Final = 0.6
"""From this support on, a passage says what a sentence says."""

FEWEST_WORDS: Final = 4  # A shorter statement is read with the question.
NEAR_THE_QUESTION: Final = 0.35  # The support that question and short statement need together.
ECHO: Final = 0.5  # What support is worth of a sentence that only repeats the question.
FOREIGN: Final = 0.5  # ... that names what the question names and the passage does not.
COMPARED_AGAIN: Final = 2


@dataclass(frozen=True, slots=True)
class Verified:
    """The passage that supports a sentence, the words that do, and how well (0-1)."""

    passage: Passage | None
    quote: str = ""
    support: float = 0.0
    contradicted: bool = False

    @property
    def supported(self) -> bool:
        """Return whether the passage says what the sentence says."""
        return self.support >= LEAST_SUPPORT and not self.contradicted


def verify(
    sentences: Sequence[str],
    passages: Sequence[Passage],
    similarity: WordSimilarity | None,
    asked: Asked = NOTHING_ASKED,
) -> Verified:
    """Return the passage that supports one of the sentences best; the first passage where none does.

    All pairs are compared by shared stems, and the best few again with word vectors, which cost more.
    """
    pairs = list(product(passages, sentences))
    scored = [(_support(sentence, passage, None, asked), passage, sentence) for passage, sentence in pairs]
    if similarity is not None:
        scored.sort(key=lambda entry: -entry[0].score)
        scored = [
            (_support(sentence, passage, similarity, asked), passage, sentence)
            for _, passage, sentence in scored[:COMPARED_AGAIN]
        ]
    best = Verified(passages[0] if passages else None)
    for found, passage, _ in scored:
        if found.score > best.support or (found.contradicted and not best.support):
            best = Verified(passage, found.quote, found.score, found.contradicted)
    return best


def _support(sentence: str, passage: Passage, similarity: WordSimilarity | None, asked: Asked) -> Support:
    """Return how well a passage supports a sentence that answers a question."""
    evidence = evidence_of(passage)
    echo = asked.is_echoed_by(sentence)
    found = support(sentence, evidence, similarity=similarity, asked=NOTHING_ASKED if echo else asked)
    words = [word for word in tokens(sentence) if word.weight > 0]
    if echo and found.score < 1:
        return replace(found, score=ECHO * found.score)
    held = evidence.occurrences.keys() | evidence.heading
    if any(word.key in asked.names and word.kind == "name" and word.key not in held for word in words):
        return replace(found, score=FOREIGN * found.score)
    if asked.words and len(words) < FEWEST_WORDS:
        if not any(word.key in held for word in asked.words):
            return replace(found, score=FOREIGN * found.score)
        together = support(f"{asked.text} {sentence}", evidence, similarity=similarity).score
        return replace(found, score=min(found.score, together / NEAR_THE_QUESTION))
    return found


def attribute(
    sentences: Sequence[Sentence], shown: Sequence[Passage], asked: Asked = NOTHING_ASKED
) -> Iterator[tuple[Sentence, Verified]]:
    """Yield the sentences that a shown passage supports well by its own words, each with that passage."""
    evidence = [evidence_of(passage) for passage in shown]
    for sentence in sentences:
        words = [word for word in tokens(sentence.words) if word.weight > 0 and word.key not in asked.repeatable]
        ceilings = [ceiling(words, passage) for passage in evidence]
        likely = [rank for rank in range(len(shown)) if ceilings[rank] >= LEAST_SUPPORT]
        for rank in sorted(likely, key=lambda rank: -ceilings[rank])[:COMPARED_AGAIN]:
            verified = verify([sentence.words], [shown[rank]], None, asked)
            if verified.supported:
                yield sentence, verified
                break
