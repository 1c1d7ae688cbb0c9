"""Ask real language models on this machine the project's own questions: `python -m benchmarks.models`.

Each model that is there is asked 60 of the 180 own questions, 20 follow-ups, and a question on each of 40 poisoned
documents, the sets by turns: the offline answerer, the models that `make model` fetched, and the one that LLM_PROVIDER
or a key in the environment names. A run that is cut goes on where it ended; the rows hold what each model wrote. The
table is written into docs/models.md.
"""

import argparse
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import prompts
from app.cli.rendering import progress_bar
from app.observability.logs import configure_logs
from benchmarks.figures import write_figures
from benchmarks.models import report
from benchmarks.models.asking import ModelRow, ask, code_asked, read_rows
from benchmarks.models.subjects import NAMES, OFFLINE, Subject, present, subject
from benchmarks.models.tasks import Task, tasks
from benchmarks.tables import table
from evals.judge import Judge

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "storage" / "models"
PAGE = ROOT / "docs" / "models.md"


def main() -> None:
    """Ask what was not asked yet, and write the table of all that was."""
    given = _arguments()
    configure_logs("warning")
    for name in [] if given.table else given.models:
        with subject(name, threads=given.threads) as asked:
            _ask_all(asked, tasks()[: given.questions], _file(given.folder, name))
    found = {name: rows for name in NAMES if (rows := read_rows(_file(given.folder, name)))}
    lines = report.lines(tasks(), found)
    print(table(("", *found), lines))
    if given.write:
        write_figures("models", {"models": {name: _model(rows) for name, rows in found.items()}, "lines": lines})
        _write_page()


def _arguments() -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=_names, default=present(), help=f"of {', '.join(NAMES)}; by default all here")
    parser.add_argument("--questions", type=int, metavar="N", help="ask each model the first N of the 120")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of a model; 1 on a busy machine")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the rows are kept")
    parser.add_argument("--table", action="store_true", help="ask nothing")
    parser.add_argument("--no-write", dest="write", action="store_false", help="leave docs/ as it is")
    return parser.parse_args()


def _names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := set(names) - set(NAMES):
        msg = f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}"
        raise argparse.ArgumentTypeError(msg)
    return names


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.jsonl"


def _ask_all(asked: Subject, every: Sequence[Task], file: Path) -> None:
    """Ask what has no row yet, and append each row as it is done."""
    done, code = read_rows(file), code_asked()
    judge = None if asked.name == OFFLINE else Judge(asked.sample.model.bind(temperature=0), prompts.load("judge"))
    file.parent.mkdir(parents=True, exist_ok=True)
    with progress_bar(asked.name) as progress, file.open("a", encoding="utf-8") as rows:
        for number, task in enumerate(every, start=1):
            if task.key not in done:
                row = ask(asked.over(task.set), task, judge=judge, commit=code)
                rows.write(json.dumps(row, ensure_ascii=False) + "\n")
                rows.flush()
            progress(number, len(every), f"{asked.name}: {task.case.id}")


def _model(rows: Mapping[tuple[str, str], ModelRow]) -> str:
    """Return the name of the model that answered most."""
    return Counter(str(row["model"] or "") for row in rows.values()).most_common(1)[0][0]


def _write_page() -> None:
    from cogapp import Cog  # noqa: PLC0415 - only where the page is written.

    Cog().main(["cog", "-r", "-I", str(ROOT), str(PAGE)])


if __name__ == "__main__":
    main()
