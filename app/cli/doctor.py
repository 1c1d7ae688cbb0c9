"""`waypoint doctor`: check that everything the settings name works."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.ingest import read_settings
from app.cli.rendering import as_json, show
from app.settings import SettingsError

if TYPE_CHECKING:
    from app.wiring.checks import Finding


def doctor(
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check settings, models, store, language model, Redis, RabbitMQ and tracing; exit 1 if a required part fails."""
    found = []
    for finding in _findings():
        found.append(finding)
        if not json:
            optional = "" if finding.required or finding.state != "failed" else " (optional)"
            remedy = f"\n{'':28} {finding.remedy}" if finding.remedy else ""
            show(f"{finding.state:7}{finding.part:20} {finding.detail}{optional}{remedy}")
    failed = any(finding.state == "failed" and finding.required for finding in found)
    if json:
        show(as_json({"ok": not failed, "findings": [asdict(finding) for finding in found]}))
    if failed:
        raise typer.Exit(1)


def _findings() -> "Iterator[Finding]":
    from app.wiring import Services
    from app.wiring.checks import Finding, findings

    try:
        settings = read_settings()
    except SettingsError as error:
        yield Finding("settings", "failed", str(error), remedy="correct the environment or `.env`")
        return
    yield Finding("settings", "ok", f"provider {settings.provider}, retriever {settings.retrieval.strategy}")
    yield from findings(Services(settings))
