"""Print answers as they stream, reports and progress. Nothing else prints."""

import itertools
import json
import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from app.observability.logs import escaped, printable
from chains.naming import passages_by_place, place_name
from chains.state import ClosestPassage
from chains.text.letters import one_line
from chains.text.statements import read_statements
from chains.text.tokens import tokens

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


def kept(stream: Iterable[Mapping[str, Any]], parts: list[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the parts of an answer as they stream, and keep each."""
    for part in stream:
        parts.append(part)
        yield part


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


def answer_text(stream: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the words of an answer as they stream, then its citations, sources and confidence."""
    from chains.output import merge

    parts: list[Mapping[str, Any]] = []
    yield from answer_words(kept(stream, parts))
    yield from answer_facts(merge(parts))


def answer_words(stream: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the words of an answer as they stream, then what replaces or limits them."""
    answer: dict[str, Any] = {}
    written = ""
    for part in stream:
        for name, value in part.items():
            if name == "answer":
                written += value
                yield value
            else:
                answer[name] = value
    yield "\n\n"
    if "replacement" in answer and answer["outcome"] != "unsure":
        yield f"The answer above is withdrawn: {answer['replacement']}\n\n"
    yield from _searched(answer["metadata"])
    yield from _broken(answer["metadata"].get("finish_reason"))
    yield from _unsupported(answer, written)
    yield from _closest(answer.get("closest", []))


def answer_facts(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield an answer's citations, related documents, confidence and model."""
    yield from _list("Citations", _cited(answer))
    yield from _list("Related documents", dict.fromkeys(document["title"] for document in answer["related_docs"]))
    confidence, metadata = answer["confidence"], answer["metadata"]
    yield from _removed(metadata.get("safety"))
    if confidence:
        yield f"Confidence: {confidence['level']} ({confidence['reason']})\n"
    yield f"Model: {metadata['model'] or 'none'} · outcome: {answer['outcome']} · {metadata['latency_ms']:.0f} ms\n"


def answer_line(answer: Mapping[str, Any]) -> str:
    """Return the confidence, the number of cited documents and the time in one line."""
    cited = {one["doc_id"] for one in answer["citations"] if one["matched"]}
    documents = f"{len(cited)} {'document' if len(cited) == 1 else 'documents'} cited"
    return f"Confidence: {answer['confidence']['level']} · {documents} · {answer['metadata']['latency_ms']:.0f} ms"


def _searched(metadata: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was searched for, if the conversation or a translation added words to the question."""
    if metadata["search_query"] not in metadata["query"]:
        yield f"Searched for: {one_line(metadata['search_query'])}\n\n"


def _unsupported(answer: Mapping[str, Any], written: str) -> Iterator[str]:
    shown = answer.get("replacement") or written
    sentences = [shown[start:end] for start, end in answer.get("unsupported", [])]
    if found := [one_line(text) for text in (answer.get("draft"), *sentences) if text]:
        yield "\n".join(["No passage says this:", *(f"  {escaped(line)}" for line in found), "\n"])


def _closest(closest: Sequence[ClosestPassage]) -> Iterator[str]:
    """Yield the closest passages, a statement a line; the marked one has a sign before it."""
    if closest:
        yield "Closest passages:\n"
    for passages in passages_by_place(closest):
        first = passages[0]
        name = place_name(first["title"], first["section"], first["page"])
        yield f"  {escaped(', '.join(filter(None, [name, first['url']])))}\n"
        for passage in passages:
            for statement in read_statements(passage["quote"], passage["table_head"]):
                if statement.kind != "head":
                    sign = ">" if statement.words == passage["marked"] else "-" if statement.kind == "item" else " "
                    yield f"    {sign} {escaped(statement.said)}\n"
        yield "\n"


def _broken(finish_reason: str | None) -> Iterator[str]:
    if finish_reason == "length":
        yield "The answer was cut off at LLM_MAX_TOKENS.\n\n"
    if finish_reason == "error":
        yield "The answer above is incomplete: the language model broke off. Ask again.\n\n"


def _removed(safety: Mapping[str, Any] | None) -> Iterator[str]:
    if safety and safety["redacted"]:
        kinds = ", ".join(kind.replace("_", " ").lower() for kind in safety["redacted"])
        yield f"Removed from the question: {kinds}\n"


def _cited(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield each source once: its name, its addresses, and the quotes of it that are not the answer's own words.

    A source that has no marker in the text comes after those that have.
    """
    places: dict[tuple[object, ...], list[Mapping[str, Any]]] = {}
    for citation in sorted(answer["citations"], key=lambda citation: citation["number"] or math.inf):
        if citation["matched"]:
            places.setdefault((citation["doc_id"], citation["section"], citation["page"]), []).append(citation)
    said = {word.key for word in tokens(answer["answer"])}
    for citations in places.values():
        first, support = citations[0], min(citation["support"] for citation in citations)
        numbers = "".join(f"[{number}] " for number in dict.fromkeys(one["number"] for one in citations) if number)
        marker = "" if numbers else "no marker in the text, "
        name = place_name(first["title"], first["section"], first["page"])
        yield f"{numbers}{name} ({marker}support {support:.2f})"
        quotes = [" ".join(one.said for one in read_statements(citation["quote"])) for citation in citations]
        further = [quote for quote in dict.fromkeys(quotes) if not said.issuperset(word.key for word in tokens(quote))]
        yield from (f"    {line}" for line in [*first["source_urls"], *(f"“{quote}”" for quote in further)])


def _list(title: str, lines: Iterable[str]) -> Iterator[str]:
    if listed := [f"  {escaped(line)}" for line in lines]:
        yield "\n".join([f"{title}:", *listed, "\n"])


def problem_lines(report: "Report") -> list[str]:
    """Return a line for each skipped or failed file and each warning."""
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
    files = [escaped(f"would {one.change} {one.path}") for one in report.changes]
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
