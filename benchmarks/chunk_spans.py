"""Measure how much of the evidence is retrieved, for questions that give its exact character spans.

Run `python -m benchmarks.chunk_spans FOLDER`, where FOLDER holds questions.csv (question, references as JSON with
start_index and end_index, corpus_id) and the corpora as markdown files, in the form of chunking_evaluation (Smith and
Troynikov 2024). Each question is searched in its own corpus with the strategy of the settings in force. Printed are the
mean share of the gold characters that the five best chunks cover, and that share for each 1,000 characters retrieved.
`--answered` asks the whole chain as well: how many questions are answered with a citation whose quoted words stand in
their evidence's passage, and how many nothing was retrieved for. `--store` keeps the indexes in a folder.
"""

import argparse
import csv
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wiring import Services
from benchmarks.figures import write_figures
from benchmarks.tables import table

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


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of a question: whether it was searched for, answered, and answered from the right passage."""

    searched: bool
    answered: bool
    right: bool


def reply(services: Services, question: SpanQuestion) -> Reply:
    """Ask the chain; the right passage is one of which some character is evidence, and that holds a cited quote."""
    answer = services.chain.invoke({"question": question.question})
    cited = [
        (passage["metadata"]["start_char"], passage["metadata"]["end_char"])
        for passage in answer["documents"]
        if any(one["matched"] and one["quote"] in passage["content"] for one in answer["citations"])
    ]
    answered = answer["outcome"] == "answered"
    return Reply(bool(answer["documents"]), answered, answered and coverage(question.spans, cited).recall > 0)


def print_answers(folder: Path, services: Services) -> None:
    """Print and keep how the questions of each corpus are answered."""
    found: dict[str, dict[str, str]] = {}
    by_corpus: dict[str, list[SpanQuestion]] = defaultdict(list)
    for question in read_spans(folder):
        by_corpus[question.corpus].append(question)
    total: list[Reply] = []
    for corpus, questions in by_corpus.items():
        mine = _beside(services, corpus)
        mine.ingest([folder / f"{corpus}.md"])
        replies = [reply(mine, question) for question in questions]
        found[corpus], total = _counted(replies), [*total, *replies]
    found["all"] = _counted(total)
    print(table(("corpus", *found["all"]), [(name, *cells.values()) for name, cells in found.items()]))
    write_figures("chunk_spans", found)


def _counted(replies: Sequence[Reply]) -> dict[str, str]:
    return {
        "questions": str(len(replies)),
        "turned away before the search": str(sum(not one.searched for one in replies)),
        "answered": f"{mean(one.answered for one in replies):.2f}",
        "with a citation of the right passage": f"{mean(one.right for one in replies):.2f}",
    }


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


def main() -> None:
    """Print the table of the strategy in force."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--answered", action="store_true", help="ask the whole chain instead of the retriever alone")
    parser.add_argument("--store", type=Path, help="where the indexes are kept")
    given = parser.parse_args()
    configure_logs("warning")
    with tempfile.TemporaryDirectory() as store:
        services = Services(load_settings(chroma_path=given.store or Path(store)))
        if given.answered:
            print_answers(given.folder, services)
        else:
            print_spans(given.folder, [services])


if __name__ == "__main__":
    main()
