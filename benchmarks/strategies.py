"""Run the question sets through every retrieval strategy and print the tables of docs/retrieval.md: `make eval`.

Each corpus is indexed once, into a temporary folder. A strategy that the settings in force do not allow is named below
the table. The larger corpora are not part of the project: `python -m benchmarks.strategies FOLDER` looks for
kb/waypoint, eval/waypoint/questions.jsonl and eval/chunk_spans there, by default in `shared` beside the
checkout, and leaves out the rows of what is not there.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from app import hooks
from app.observability.logs import configure_logs
from app.settings import SettingsError, load_settings
from app.wiring import Services, sample_corpus
from benchmarks.chunk_spans import print_spans
from benchmarks.figures import ROOT
from benchmarks.offline import QUESTIONS
from evals.metrics import Metric, evaluate
from evals.questions import read_questions
from evals.rows import ask_all

OWN = ("sample", QUESTIONS, sample_corpus())
COLUMNS = {
    "document hit@1": "doc hit@1",
    "document hit@3": "@3",
    "document hit@10": "@10",
    "document MRR@10": "MRR",
    "evidence chunk hit@1": "evidence hit@1",
    "evidence chunk hit@5": "@5",
    "evidence chunk hit@10": "@10",
    "evidence in the first 4,000 characters": "in 4,000 characters",
    "answer-fact coverage": "facts",
    "in scope, answered with a citation of a gold document": "founded",
    "correct declines": "correct declines",
    "false declines": "false declines",
    "citation validity": "valid citations",
    "citation precision": "precise",
    "retrieval p50 (ms)": "retrieval p50",
}


def strategies() -> tuple[str, ...]:
    """Return the values that RETRIEVER_TYPE may have."""
    return tuple(hooks.names("retrieval"))


def main() -> None:
    """Print the tables."""
    configure_logs("warning")
    shared = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared"
    spans = shared / "eval" / "chunk_spans"
    sets = (OWN, ("waypoint", shared / "eval" / "waypoint" / "questions.jsonl", shared / "kb" / "waypoint"))
    refused: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        print_questions([one for one in sets if one[1].is_file() and one[2].is_dir()], Path(folder), refused)
        if spans.is_dir():
            print()
            print_spans(spans, every_strategy(Path(folder) / "spans", refused))
    for strategy, reason in refused.items():
        print(f"\nNot measured: {strategy} ({reason})")


def print_questions(sets: Sequence[tuple[str, Path, Path]], folder: Path, refused: dict[str, str]) -> None:
    """Print a line for each question set and strategy."""
    heads = ["questions", "strategy", *COLUMNS.values()]
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for name, questions, corpus in sets:
        for services in every_strategy(folder / name, refused):
            services.ingest([corpus])
            print(table_row(name, services.settings.retrieval.strategy, run(services, questions)), flush=True)


def every_strategy(store: Path, refused: dict[str, str]) -> Iterator[Services]:
    """Yield the services of each strategy over one store; what the settings refuse is kept in `refused`."""
    for strategy in strategies():
        try:
            yield Services(load_settings(chroma_path=store, retriever_type=strategy))
        except SettingsError as error:
            refused[strategy] = str(error)


def run(services: Services, questions: Path) -> list[Metric]:
    """Return the metrics of a question set; the first question is asked twice, so that no model is loaded in time."""
    cases = read_questions(questions)
    services.chain.invoke({"question": cases[0].question})
    return evaluate(cases, list(ask_all(services.chain, cases)))


def table_row(name: str, strategy: str, metrics: Sequence[Metric]) -> str:
    """Return the line of one question set and strategy."""
    by_name = {metric.name: metric for metric in metrics}
    cells = [_cell(by_name[column]) for column in COLUMNS]
    return f"| {name} | `{strategy}` | " + " | ".join(cells) + " |"


def _cell(metric: Metric) -> str:
    if metric.value is None:
        return "-"
    return f"{metric.value:.1f} ms" if metric.group == "latency" else f"{metric.value:.2f}"


if __name__ == "__main__":
    main()
