"""Measure how much of the evidence is retrieved, for questions that give its exact character spans.

The folder holds questions.csv (question, references as JSON with start_index and end_index, corpus_id) and the corpora
as markdown files, in the form of chunking_evaluation (Smith and Troynikov 2024). Each question is searched in its own
corpus. Printed are the mean share of the gold characters that the five best chunks cover, and that share for each
1,000 characters retrieved.
"""

import csv
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from app.wiring import Services

TOP = 5
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SpanQuestion:
    """A question, and where its evidence stands in its corpus."""

    question: str
    corpus: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """The share of the gold characters that was retrieved, and how many characters that took."""

    recall: float
    retrieved: int

    @property
    def recall_per_thousand(self) -> float:
        """Return the recall for each 1,000 retrieved characters."""
        return 1000 * self.recall / self.retrieved if self.retrieved else 0.0


def read_spans(folder: Path) -> list[SpanQuestion]:
    """Return the questions of the folder."""
    csv.field_size_limit(2**24)
    with (folder / "questions.csv").open(encoding="utf-8", newline="") as file:
        return [
            SpanQuestion(row["question"], row["corpus_id"], tuple(_spans(row["references"])))
            for row in csv.DictReader(file)
        ]


def _spans(references: str) -> Iterator[Span]:
    return ((entry["start_index"], entry["end_index"]) for entry in json.loads(references))


def coverage(gold: Sequence[Span], retrieved: Sequence[Span]) -> Coverage:
    """Return how much of the gold spans the retrieved ones cover; each character counts once."""
    wanted, found = _characters(gold), _characters(retrieved)
    return Coverage(len(wanted & found) / len(wanted) if wanted else 0.0, len(found))


def _characters(spans: Iterable[Span]) -> set[int]:
    return {place for start, end in spans for place in range(start, end)}


def search(services: Services, question: str) -> list[Span]:
    """Return the spans of the best chunks; no threshold, because recall is measured."""
    found = services.retriever.invoke(question, top_k=TOP, threshold=0.0)
    return [(document.metadata["start_char"], document.metadata["end_char"]) for document in found]


def measure(services: Services, folder: Path, corpus: str, questions: Sequence[SpanQuestion]) -> list[Coverage]:
    """Return the coverage of each question on one corpus, which is indexed where that has not been done."""
    services.ingest([folder / f"{corpus}.md"])
    return [coverage(question.spans, search(services, question.question)) for question in questions]


def print_spans(folder: Path, every_services: Iterable[Services]) -> None:
    """Print a line for each strategy; each corpus has a store of its own below the services' folder."""
    by_corpus: dict[str, list[SpanQuestion]] = defaultdict(list)
    for question in read_spans(folder):
        by_corpus[question.corpus].append(question)
    heads = ["strategy", f"recall@{TOP}", "per 1,000 characters", *by_corpus]
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for services in every_services:
        found = {
            corpus: measure(_beside(services, corpus), folder, corpus, questions)
            for corpus, questions in by_corpus.items()
        }
        print(table_row(services.settings.retrieval.strategy, found), flush=True)


def _beside(services: Services, corpus: str) -> Services:
    return Services(services.settings.replace(chroma_path=services.settings.chroma.path / corpus))


def table_row(strategy: str, found: Mapping[str, Sequence[Coverage]]) -> str:
    """Return the line of one strategy: the mean over all questions, then each corpus."""
    every = [one for coverages in found.values() for one in coverages]
    figures = [
        mean(one.recall for one in every),
        mean(one.recall_per_thousand for one in every),
        *(mean(one.recall for one in coverages) for coverages in found.values()),
    ]
    return f"| `{strategy}` | " + " | ".join(f"{figure:.3f}" for figure in figures) + " |"
