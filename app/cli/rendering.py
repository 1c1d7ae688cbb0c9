"""Print answers as they stream, reports and progress. Nothing else prints."""

import itertools
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from app.edge import Section, doubts, grounds, notices, verdict
from app.observability.logs import escaped, printable
from chains.state import Answer

if TYPE_CHECKING:
    from chains.ingestion.index import Report
    from chains.ports import Progress


def show(text: str, *, end: str = "\n") -> None:
    """Print to stdout, with terminal control characters removed."""
    print(printable(text), end=end, flush=True)


def complain(text: str) -> None:
    """Print to stderr, with terminal control characters removed."""
    print(printable(text), file=sys.stderr)


def as_json(value: object) -> str:
    """Return indented JSON that is safe on a terminal."""
    return escaped(json.dumps(value, ensure_ascii=False, indent=2), lines=True)


def show_stream(pieces: Iterable[str]) -> None:
    """Print text as it streams; on a terminal lines end between words."""
    lines = in_lines(pieces, get_terminal_size().columns) if sys.stdout.isatty() else pieces
    for text in lines:
        show(text, end="")


def in_lines(pieces: Iterable[str], width: int) -> Iterator[str]:
    """Yield streamed text in lines that end between words; each line of a paragraph is indented like its first."""
    from rich.cells import cell_len

    column, indent, gap, waiting = 0, "", "", ""
    for piece in itertools.chain(filter(None, pieces), [""]):
        found = re.findall(r"\n|[^\S\n]+|\S+", waiting + piece)
        waiting = found.pop() if piece else ""
        for word in found:
            if word == "\n":
                yield word
                column, indent, gap = 0, "", ""
            elif word.isspace():
                indent, gap = (word, word) if column == 0 else (indent, word)
            else:
                breaks = column > 0 and column + cell_len(gap + word) > width
                before, column = (f"\n{indent}", cell_len(indent)) if breaks else (gap, column + cell_len(gap))
                yield before + word
                column, gap = column + cell_len(word), ""


Parts = list[Mapping[str, Any]]


def answer_text(stream: Iterable[Mapping[str, Any]], parts: Parts | None = None) -> Iterator[str]:
    """Yield what `answer_words` yields, then the citations, related documents and confidence."""
    from chains.output import merge

    parts = [] if parts is None else parts
    yield from answer_words(stream, parts)
    yield from answer_facts(merge(parts))


def answer_words(stream: Iterable[Mapping[str, Any]], parts: Parts) -> Iterator[str]:
    """Yield the words of an answer as they stream, then what replaces or limits them; `parts` gets what streamed."""
    from chains.output import merge

    for part in stream:
        parts.append(part)
        if "answer" in part:
            yield part["answer"]
    yield "\n\n"
    answer = merge(parts)
    yield from (f"{notice}\n\n" for notice in notices(answer, replaced=any("replacement" in part for part in parts)))
    yield from map(_listed, doubts(answer))


def answer_facts(answer: Answer) -> Iterator[str]:
    yield from map(_listed, grounds(answer))
    yield from (f"{line}\n" for line in verdict(answer))


def _listed(section: Section) -> str:
    heading, lines = section
    indented = (f"  {escaped(line)}" if line else "" for line in lines)
    return "\n".join([f"{heading}:", *indented, "\n"]) if lines else ""


def problem_lines(report: "Report") -> list[str]:
    kinds = {"skipped": report.skipped, "warning,": report.warnings, "cannot use": report.problems}
    found = [(kind, problem) for kind, problems in kinds.items() for problem in problems]
    return [escaped(f"{kind} {problem.path}: {problem.reason}") for kind, problem in found]


def report_text(report: "Report", *, dry_run: bool = False) -> str:
    """Return the summary of an ingestion; of a dry run, what would become of each file."""
    head = f"{report.files} files, {report.chunks} chunks:"
    tail = f"in {report.seconds:.1f} s; {report.internal} of the files are internal"
    if not dry_run:
        return (
            f"{head} {report.added} added, {report.updated} updated, {report.unchanged} unchanged, "
            f"{report.deleted} deleted {tail}"
        )
    files = [escaped(f"would {change.change} {change.path}") for change in report.changes]
    counts = f"{report.added} chunks, update {report.updated}, keep {report.unchanged}, delete {report.deleted}"
    return "\n".join([*files, f"{head} would add {counts}; nothing was changed. Read {tail}"])


@contextmanager
def progress_bar(description: str = "Ingesting") -> "Iterator[Progress]":
    """Show a progress bar on a terminal; yield the function that advances it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(description, total=None)

        def move(done: int, total: int, label: str, /) -> None:
            bar.update(task, completed=done, total=total, description=escaped(label))

        yield move
