"""`waypoint ingest`: files into the index; and how every command opens an index that holds something."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal

import structlog
import typer

from app.cli.rendering import as_json, complain, problem_lines, progress_bar, report_text, show
from app.settings import Settings, load_settings, unused_variables

if TYPE_CHECKING:
    from app.wiring import Services

log = structlog.get_logger(__name__)


def ingest(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH ...]",
            help="Folders or files; s3://, gs:// or az:// with a bucket; https:// with a web site or a file of one. "
            "By default the sample corpus.",
            show_default=False,
        ),
    ] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Rebuild the index from nothing.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change, and change nothing.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    engine: Annotated[
        Literal["plain", "ray"],
        typer.Option("--engine", help="Where files are read and embedded: in this process, or on Ray."),
    ] = "plain",
    ray_address: Annotated[
        str | None,
        typer.Option(
            "--ray-address",
            metavar="HOST:PORT",
            help="The head of a Ray cluster; without it Ray starts here.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Bring the index in line with the files: only what changed is embedded again, what vanished is removed."""
    from app.wiring import Services
    from app.wiring.engines import EngineChoice
    from app.wiring.scope import describe_scope

    if ray_address is not None and engine != "ray":
        msg = "--ray-address goes with --engine ray"
        raise typer.BadParameter(msg)
    services = Services(read_settings())
    if services.remote is not None:
        complain("RETRIEVAL_URL is set: questions are answered from that service, not from the index filled here.")
    with progress_bar() as progress:
        choice = EngineChoice(engine, ray_address)
        report = services.ingest(paths or [], reset=reset, dry_run=dry_run, progress=progress, engine=choice)
    for line in problem_lines(report):
        complain(line)
    scope = describe_scope(services.settings, services.index.current())
    show(as_json(asdict(report) | {"scope": scope}) if json else f"{report_text(report)}\nScope: {scope}")
    if report.problems:
        raise typer.Exit(1)


def read_settings() -> Settings:
    """Read the settings, and warn of variables that are set for nothing."""
    settings = load_settings()
    for name in unused_variables():
        log.warning("unknown_setting", name=name)
    return settings


def open_services(settings: Settings | None = None, *, serving: bool = False) -> "Services":
    """Return the services; the sample corpus fills an empty index, unless a user's documents ever went into it."""
    from app.wiring import Services

    services = Services(settings or read_settings(), serving=serving)
    if services.remote is not None:
        return services
    if services.store.count() == 0 and services.stored.holds_own_documents():
        complain("The index is empty: it holds none of your documents. Run `waypoint ingest PATH`.")
    elif services.store.count() == 0:
        complain("The index is empty: ingesting the sample corpus first.")
        with progress_bar() as progress:
            report = services.ingest([], progress=progress)
        complain(f"Ingested {report.files} files, {report.chunks} chunks in {report.seconds:.1f} s.")
    return services
