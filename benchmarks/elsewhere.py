"""Measure `support` on texts that it was not fitted on: `python -m benchmarks.elsewhere [FOLDER]`.

The first table holds AUROCs: does the passage that an answer rests on support it better than the three passages of
other documents that share most words with it? The answers are the sentences of mtrag's reference answers, and the
questions of the freight sets with the facts of their answers. In the second table sentences of the documents are
changed in one place, and should no longer read as supported by the passage that they come from.
"""

import argparse
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Final

import numpy as np

from app.adapters.embeddings.onnx.weights import find_weights
from app.adapters.embeddings.onnx.words import WordVectors
from benchmarks.corpora import SHARED, QuestionSet, question_sets
from benchmarks.figures import write_figures
from benchmarks.tables import table
from chains.citations.clashes import CLASH_FACTORS, compare_numbers
from chains.citations.evidence import Evidence, Span, prepare
from chains.citations.support import align, match, support, weigh
from chains.citations.verification import LEAST_SUPPORT
from chains.ingestion.chunks import Chunker
from chains.ingestion.text_files import load_markdown
from chains.ports import WordSimilarity
from chains.text.sentences import sentences
from chains.text.tokens import Token, tokens
from evals.metrics import auroc

RIVALS: Final = 3
FEWEST_WORDS: Final = 5
STRANGERS: Final = ("Rotterdam", "Kimberley", "Santos", "Fujimori", "Weber", "Oslo")
_VERB: Final = re.compile(r"\b(?:is|are|was|were|must|can|may|will|has|have|does|do)\b")
_NEGATED: Final = re.compile(r"\b(?:no|not|never|without)\b|n['’]t\b")

Change = Callable[[str, Span, Evidence, random.Random], str | None]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a document."""

    document: str
    text: str


@dataclass(frozen=True, slots=True)
class Rested:
    """A claim, the passages of the documents that it rests on, and others that share most words with it."""

    claim: str
    own: Sequence[str]
    rivals: Sequence[str]


def chunks_of(one: QuestionSet) -> list[Chunk]:
    """Return the documents of a set, cut as ingestion cuts them."""
    found = []
    for path in sorted(one.documents.rglob("*.md")):
        document = "_".join(path.relative_to(one.documents).with_suffix("").parts)
        source = load_markdown(path)
        found += [
            Chunk(document, chunk.text) for chunk in Chunker().split_markdown(source.text, start=source.body_start)
        ]
    return found


def rested(one: QuestionSet, chunks: Sequence[Chunk]) -> Iterator[Rested]:
    """Yield the claims of a set with their passages."""
    with one.questions.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    nearest = _nearest(chunks)
    for row in rows:
        gold = {found["doc_id"] for found in row.get("gold") or []}
        for claim, fact in _claims(row):
            mine = [chunk.text for chunk in chunks if chunk.document in gold and fact in chunk.text.lower()]
            others = [chunks[place] for place in nearest(claim)]
            rivals = [chunk.text for chunk in others if chunk.document not in gold][:RIVALS]
            if mine and rivals:
                yield Rested(claim, mine, rivals)


def _claims(row: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the claims of a question, each with words that its passages must hold."""
    for sentence in sentences(row.get("reference") or ""):
        if _content(tokens(sentence)) >= FEWEST_WORDS:
            yield sentence, ""
    for fact in row.get("answer_facts") or ():
        yield f"{row['question'].rstrip('?')} {fact}", fact.lower()


def _content(words: Sequence[Token]) -> int:
    return sum(word.weight > 0 for word in words)


def _nearest(chunks: Sequence[Chunk]) -> Callable[[str], list[int]]:
    """Return what lists the chunks by the summed idf of the words that they share with a text."""
    held: dict[str, list[int]] = defaultdict(list)
    for place, chunk in enumerate(chunks):
        for key in {word.key for word in tokens(chunk.text) if word.weight > 0}:
            held[key].append(place)

    def nearest(text: str) -> list[int]:
        shared: Counter[int] = Counter()
        for key in sorted({word.key for word in tokens(text) if word.weight > 0}):
            shared.update(dict.fromkeys(held[key], log(1 + len(chunks) / max(1, len(held[key])))))
        return [place for place, _ in shared.most_common(RIVALS + 30)]

    return nearest


def now(sentence: str, evidence: Evidence, similarity: WordSimilarity) -> float:
    """Return the support as it is."""
    return support(sentence, evidence, similarity=similarity).score


def before(sentence: str, evidence: Evidence, similarity: WordSimilarity) -> float:
    """Return the support by words and clashing numbers alone, without losses and negations."""
    everything = tokens(sentence)
    words = [word for word in everything if word.weight > 0]
    strengths = match(words, evidence, similarity)
    clash = compare_numbers(sentence, everything, words, evidence, strengths)
    return min(1.0, align(strengths, weigh(words, evidence))) * CLASH_FACTORS[clash] if words else 0.0


def ranking(name: str, claims: Sequence[Rested], similarity: WordSimilarity) -> tuple[str, ...]:
    """Return the row of a set: how well its claims' own passages rank above the rivals."""
    cells = []
    for score in (before, now):
        told = [(max(score(one.claim, prepare(text), similarity) for text in one.own), True) for one in claims]
        told += [(score(one.claim, prepare(text), similarity), False) for one in claims for text in one.rivals]
        cells.append(f"{auroc(told) or 0.0:.3f}")
    return name, str(len(claims)), *cells


def changed(name: str, chunks: Sequence[Chunk], similarity: WordSimilarity) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a corpus: how many changed sentences read as supported."""
    kinds: dict[str, Change] = {"a number": _other_number, "a name": _other_name, "a negation added": _denied}
    for told, change in kinds.items():
        chance = random.Random(0)  # noqa: S311 (no secret)
        scores = []
        for chunk in chunks:
            evidence = prepare(chunk.text)
            for span in evidence.spans:
                found = change(chunk.text[span.start : span.end], span, evidence, chance)
                if found and _content(span.tokens) >= FEWEST_WORDS:
                    scores.append((before(found, evidence, similarity), now(found, evidence, similarity)))
        shares = (np.array(scores) >= LEAST_SUPPORT).mean(axis=0)
        yield name, told, str(len(scores)), *(f"{100 * share:.0f} %" for share in shares.tolist())


def _other_number(text: str, span: Span, evidence: Evidence, chance: random.Random) -> str | None:
    numbers = [word for word in span.tokens if word.kind == "number" and word.text.isdecimal()]
    if not numbers:
        return None
    word = chance.choice(numbers)
    other = str(int(word.text) + chance.choice((1, 2, 3, 5, 10)))
    return None if other in evidence.numbers else text[: word.start] + other + text[word.end :]


def _other_name(text: str, span: Span, _: Evidence, chance: random.Random) -> str | None:
    names = [word for word in span.tokens if word.kind == "name"]
    if not names:
        return None
    word = chance.choice(names)
    return text[: word.start] + chance.choice(STRANGERS) + text[word.end :]


def _denied(text: str, *_: object) -> str | None:
    verb = None if _NEGATED.search(text) else _VERB.search(text)
    return f"{text[: verb.end()]} not{text[verb.end() :]}" if verb else None


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED)
    similarity = WordVectors(find_weights())
    ranked, altered = [], []
    for one in question_sets(parser.parse_args().folder):
        if one.name in {"sample", "freight", "mtrag"}:
            chunks = chunks_of(one)
            ranked.append(ranking(one.name, list(rested(one, chunks)), similarity))
            altered += list(changed(one.name, chunks, similarity)) if one.name != "mtrag" else []
    print(table(RANKED, ranked), table(ALTERED, altered), sep="\n\n")
    kept = {"ranked": {"head": RANKED, "rows": ranked}, "altered": {"head": ALTERED, "rows": altered}}
    write_figures("elsewhere", kept)


RANKED: Final = ("answers of", "claims", "words and numbers", "`support`")
ALTERED: Final = ("sentences of", "changed", "sentences", "read as supported by words and numbers", "by `support`")


if __name__ == "__main__":
    main()
