"""`waypoint lint`: find what contradicts, what is old and what no question reaches in a folder of documents."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from app.cli.ingest import read_settings
from app.cli.rendering import as_json, complain, progress_bar, show


def lint(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Folders of documents, or documents. Default: this folder.", exists=True),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    max_age_days: Annotated[
        int, typer.Option(min=0, help="Days since `last_updated` after which a document is old; 0: only `review_by`.")
    ] = 0,
    fail_on: Annotated[
        Literal["error", "warning", "never"], typer.Option(help="Exit with 1 if there is a finding of this level.")
    ] = "error",
) -> None:
    """Find contradictions, old documents, duplicates, broken links and passages that no question reaches."""
    from app.wings.knowledge.findings import read_and_lint

    with progress_bar("Reading") as progress:
        settings = read_settings()
        documents, findings = read_and_lint(paths or [Path()], settings, progress, max_age_days=max_age_days)
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


def _some(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
