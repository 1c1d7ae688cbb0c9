"""Measure how often the page that answers a question on long PDF reports is found: `python -m benchmarks.filings`.

The reports of eight invented companies, some 370 pages, are written into a temporary folder, ingested, and asked the
questions of `questions.jsonl` by `waypoint eval`. `--baseline PATH` does the same with the checkout of another commit,
and prints both figures with the interval of their difference. `--reports FOLDER` only writes the PDF files into the
folder, and `--questions` writes the questions again.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pypdfium2

from benchmarks.figures import write_figures
from benchmarks.filings.questions import FILE, write
from benchmarks.filings.reports import write_reports
from benchmarks.tables import table
from evals.compare import compare
from evals.kept_rows import read_rows
from evals.metrics import evaluate
from evals.questions import read_questions
from evals.rows import Row

ROOT = Path(__file__).parents[2]
SHOWN = (*(f"page hit@{cut}" for cut in (1, 3, 5, 10)), "page MRR@10", "document hit@1", "evidence chunk hit@5")


def page_texts(files: Sequence[Path]) -> dict[str, list[str]]:
    """Return the texts of the pages by document, as pdfium reads them, in no way arranged."""
    found = {}
    for file in files:
        with pypdfium2.PdfDocument(file) as document:
            found[file.stem] = [page.get_textpage().get_text_range() for page in document]
    return found


def rows_of(checkout: Path, reports: Path, folder: Path) -> list[Row]:
    """Ingest the reports and ask the questions with the code of a checkout, in an index of its own."""
    folder.mkdir()
    rows = folder / "rows.jsonl"
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}  # noqa: TID251
    environment = {**kept, "PYTHONPATH": str(checkout), "CHROMA_PATH": str(folder / "chroma")}
    for command in (["ingest", str(reports)], ["eval", str(FILE), "--json", str(rows)]):
        subprocess.run(
            [sys.executable, "-c", "from app.cli import main; main()", *command],
            check=True, cwd=folder, env=environment, stdout=subprocess.DEVNULL,
        )  # fmt: skip
    return read_rows(rows, {case.id for case in read_questions(FILE)})


def cells(rows: Sequence[Row]) -> dict[str, str]:
    """Return the figures, each with its 95 % interval."""
    by_name = {metric.name: metric for metric in evaluate(read_questions(FILE), rows, samples=1000)}
    chosen = [by_name[name] for name in SHOWN]
    return {one.name: f"{one.value:.2f} ({one.low:.2f}-{one.high:.2f})" for one in chosen}


def changes(before: Sequence[Row], after: Sequence[Row]) -> dict[str, str]:
    """Return by how much each figure changed, with the 95 % interval of that."""
    by_name = {change.name: change for change in compare(read_questions(FILE), before, after).changes}
    chosen = [by_name[name] for name in SHOWN]
    return {one.name: f"{one.change:+.2f} ({one.low:+.2f} to {one.high:+.2f})" for one in chosen}


def main() -> None:
    """Print the table, and keep it in docs/figures.json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--baseline", type=Path, help="a checkout of another commit, measured as well")
    parser.add_argument("--reports", type=Path, help="only write the PDF files into this folder")
    parser.add_argument("--questions", action="store_true", help="write the questions again")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        reports = given.reports or Path(temporary) / "reports"
        files = write_reports(reports)
        if given.questions:
            write(page_texts(files))
        if given.reports or given.questions:
            return
        now = rows_of(ROOT, reports, Path(temporary) / "now")
        found = {"now": cells(now)}
        if given.baseline:
            before = rows_of(given.baseline.resolve(), reports, Path(temporary) / "before")
            found = {"before": cells(before), **found, "change": changes(before, now)}
        print(table(("", *SHOWN), [(name, *values.values()) for name, values in found.items()]))
        write_figures("filings", found)


if __name__ == "__main__":
    main()
