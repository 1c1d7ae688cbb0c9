"""`waypoint lint`: find what contradicts, what is old and what no question reaches in a folder of documents."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.cli.ingest import read_settings
from app.cli.rendering import as_json, complain, progress_bar, show

if TYPE_CHECKING:
    from app.wiring import Services


def lint(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Folders of documents, or documents. Default: this folder.", exists=True),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    fail_on: Annotated[
        Literal["error", "warning", "never"], typer.Option(help="Exit with 1 if there is a finding of this level.")
    ] = "error",
) -> None:
    """Find contradictions, old documents, duplicates, broken links and passages that no question reaches."""
    from app.wings.knowledge.findings import read_and_lint

    with progress_bar("Reading") as progress:
        documents, findings = read_and_lint(paths or [Path()], read_settings(), progress)
    if json:
        show(as_json([asdict(finding) | {"level": finding.level} for finding in findings]))
    for finding in () if json else findings:
        show(str(finding))
    levels = Counter(finding.level for finding in findings)
    complain(
        f"{_some(len(documents), 'document')}: {_some(levels['error'], 'error')}, {_some(levels['warning'], 'warning')}"
    )
    if levels["error"] * (fail_on != "never") + levels["warning"] * (fail_on == "warning"):
        raise typer.Exit(1)


def after_ingestion(services: "Services", paths: Sequence[str]) -> Iterator[str]:
    """Yield a line about the Markdown and plain text below the paths, for the end of `waypoint ingest`."""
    from app.wings.knowledge.findings import read_and_lint
    from app.wiring import sample_corpus
    from chains.ingestion.text_files import LOADERS

    folders = [Path(path) for path in paths if Path(path).exists()] if paths else [sample_corpus()]
    _, findings = read_and_lint(folders, services.settings, endings=set(LOADERS))
    if findings:
        kinds = Counter(finding.kind for finding in findings)
        told = ", ".join(f"{kind} {number}" for kind, number in sorted(kinds.items()))
        yield f"Worth a look: {told}; `waypoint lint {' '.join(paths)}` shows where"


def _some(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
