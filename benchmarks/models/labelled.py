"""Measure support on labelled answers of real models: `python -m benchmarks.models.labelled`.

`answers.jsonl` holds answers that two models wrote to the project's own questions, the passages that they were shown
(numbered in that order), and whether each answer is right. The labels are the developers'. An answer counts as
supported where a passage supports one of its statements. Both halves of the questions (every second line) were seen
when `LEAST_SUPPORT` and the rules around it were chosen, so unseen answers will do worse.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final

from app.adapters.embeddings.onnx.weights import find_weights
from app.adapters.embeddings.onnx.words import WordVectors
from benchmarks.tables import table
from chains.citations.asked import asked
from chains.citations.cite import read_numbers
from chains.citations.sentences import sentences_of
from chains.citations.verification import LEAST_SUPPORT, verify
from chains.ports import WordSimilarity
from chains.state import Passage

FILE: Final = Path(__file__).with_name("answers.jsonl")
HEAD: Final = ("half", "right", "supported", "wrong", "supported all the same")


def read(half: int) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each question of a half (0 or 1) with each of its answers."""
    lines = FILE.read_text(encoding="utf-8").splitlines()[half::2]
    for question in map(json.loads, lines):
        yield from product([question], question["answers"])


def best_support(question: str, answer: str, shown: Sequence[Passage], similarity: WordSimilarity) -> float:
    """Return the best support, 0-1, of a statement of the answer by any passage."""
    places = [(reference.start, reference.end) for reference in read_numbers(answer, shown)]
    claims = [sentence for sentence in sentences_of(answer, places) if sentence.is_claim]
    found = (verify([claim.words], shown, similarity, asked(question)) for claim in claims)
    return max((one.support for one in found if not one.contradicted), default=0.0)


def main() -> None:
    """Print for each half how many right and wrong answers count as supported."""
    similarity = WordVectors(find_weights())
    rows: list[Sequence[object]] = []
    for half, name in enumerate(("first", "second")):
        supported: dict[bool, list[bool]] = {True: [], False: []}
        for question, answer in read(half):
            shown = [
                Passage(content=one["content"], metadata=one["metadata"], score=None) for one in question["passages"]
            ]
            best = best_support(question["question"], answer["text"], shown, similarity)
            supported[answer["right"]].append(best >= LEAST_SUPPORT)
        rows.append([name, *(cell for right in (True, False) for cell in _cells(supported[right]))])
    print(table(HEAD, rows))


def _cells(found: Sequence[bool]) -> tuple[str, str]:
    return str(len(found)), f"{sum(found)} ({sum(found) / max(1, len(found)):.2f})"


if __name__ == "__main__":
    main()
