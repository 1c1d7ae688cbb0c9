"""`waypoint ingest`, `copy`, `migrate`, `upgrade`: what fills an index; also opens one for the other commands."""

from collections.abc import Callable, Collection, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from app import hooks
from app.cli.rendering import as_json, complain, problem_lines, progress_bar, report_text, show
from app.settings import Settings, load_settings, unused_warning
from chains.errors import IndexBusyError, IngestionError, VectorStoreError, WaypointError
from chains.logs import get_logger
from chains.side_steps import side_step

if TYPE_CHECKING:
    from app.wiring import Service
    from app.wiring.index import Index
    from chains.ingestion.index import Report

SAMPLE_ANSWERS = (
    "No documents of yours are set up: the sample corpus about freight answers, from an index of its own. "
    "`waypoint init FOLDER` begins with yours."
)

log = get_logger(__name__)


def ingest(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH ...]",
            help="Folders or files; s3://, gs:// or az:// with a bucket; https:// with a web site or one of its files. "
            "Default: the sample corpus, into an index of its own.",
        ),
    ] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Rebuild the index from nothing.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, without changing it.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    engine: Annotated[
        str,
        typer.Option("--engine", help="Where files are read and embedded: plain, in this process; ray, on a cluster."),
    ] = "plain",
    ray_address: Annotated[
        str | None,
        typer.Option(
            "--ray-address", metavar="HOST:PORT", help="Head node of a Ray cluster; default: start Ray on this machine."
        ),
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Watch the folders and ingest changes until Ctrl-C.")] = False,
) -> None:
    """Update the index from files: only changed parts are embedded again; vanished files are removed."""
    from app.wiring import open_index
    from app.wiring.index import is_address
    from app.wiring.library import describe_scope
    from app.wiring.storage import SAMPLE_INDEX, ingest_command, sample_corpus

    if ray_address is not None and engine != "ray":
        raise typer.BadParameter("--ray-address needs --engine ray")
    if watch and (json or dry_run or any(map(is_address, paths or []))):
        raise typer.BadParameter("--watch needs local folders, and excludes --json and --dry-run")
    settings = read_settings(paths or [])
    if not paths and settings.chroma.path != SAMPLE_INDEX:  # The sample corpus goes into no other index by itself.
        msg = (
            f"name the folder of your documents: `{ingest_command(settings)}`; for the sample corpus itself that is "
            f"`waypoint ingest {sample_corpus()}`"
        )
        raise IngestionError(msg)
    paths = paths or [str(sample_corpus())]
    index = open_index(settings)
    if settings.retrieval.url is not None:
        complain("RETRIEVAL_URL is set: questions are answered from that service, not from this index.")
    if watch:
        _watch(index, paths, reset=reset, engine=engine, ray_address=ray_address)
        return
    report = _run(index, paths, reset=reset, dry_run=dry_run, engine=engine, ray_address=ray_address)
    scope = describe_scope(settings, index.current())
    notes = [] if dry_run else list(_notes(index, paths))
    text = "\n".join([report_text(report, dry_run=dry_run), f"Scope: {scope}", *notes])
    show(as_json(asdict(report) | {"scope": scope, "notes": notes}) if json else text)
    if report.problems:
        raise typer.Exit(1)


def _notes(index: "Index", paths: Sequence[str]) -> Iterator[str]:
    """Yield what the steps after an ingestion say; one that fails is named, and the report stands."""
    for tell in hooks.wings("knowledge.findings:worth_a_look", "knowledge.recall:count_of_recalled"):
        notes = [f"The step {tell.__name__!r} failed, the log says where; the documents are in the index."]
        with side_step(tell.__name__):
            notes = list(tell(index, paths))
        yield from notes


def _run(index: "Index", paths: Sequence[str], **options: Any) -> "Report":
    with progress_bar() as progress:
        report = index.ingest(paths, progress=progress, **options)
    for line in problem_lines(report):
        complain(line)
    return report


def _watch(index: "Index", paths: Sequence[str], *, reset: bool, **options: Any) -> None:
    from chains.ingestion.files import real_path

    given = [real_path(Path(path)) for path in paths]
    folders = {path if path.is_dir() else path.parent for path in given}
    show(f"Watching {', '.join(map(str, sorted(folders)))} for changes; press Ctrl-C to stop.")

    def ingest_changes(changed: Set[Path] | None) -> None:
        nonlocal reset
        report = _run(index, paths, only=changed, reset=reset, **options)
        reset = False
        if changed is None or report.problems or report.added or report.updated or report.deleted:
            show(report_text(report))

    with suppress(KeyboardInterrupt):
        watch_folders(folders, ingest_changes, complain=complain)
    show("Stopped.")


# How long saving a file or copying many may take.
QUIET_MS = 800
AGAIN_S = 2.0
LOOK_MS = 500

# Files that affect how others are read.
RULES = {".waypointignore", "scope.yaml"}

Ingest = Callable[[Set[Path] | None], None]


def watch_folders(
    folders: Collection[Path], ingest: Ingest, *, complain: Callable[[str], None], stop: Event | None = None
) -> None:
    """Call `ingest` for all files (None), then with the paths that changed, one call at a time, until Ctrl-C or `stop`.

    Changes during a call are handled by the next. If the index cannot be changed now, because another ingestion is
    running or its store does not answer, the same paths are tried again.
    """
    from watchfiles import watch

    ended = stop or Event()
    left: set[Path] = set()
    changes = watch(
        *folders,
        debounce=QUIET_MS,
        step=QUIET_MS // 4,
        stop_event=ended,
        raise_interrupt=True,
        yield_on_timeout=True,  # Twice a second, so that paths that are left are tried again.
        watch_filter=None,
        rust_timeout=LOOK_MS,
    )
    next(changes)  # No change is missed from here on.
    ingest(None)
    for changed in changes:
        left |= {Path(path) for _, path in changed}
        if not left:
            continue
        try:
            ingest(None if any(path.name in RULES for path in left) else left)
        except (IndexBusyError, VectorStoreError) as error:
            complain(f"{error} The changes are tried again.")
            ended.wait(AGAIN_S)
            continue
        except WaypointError as error:
            complain(str(error))
        left = set()


def copy(
    to: Annotated[
        Literal["chroma", "memory", "postgres"],
        typer.Option(help="The target store; its own settings say where it is."),
    ],
    replace: Annotated[bool, typer.Option("--replace", help="Replace what the target holds.")] = False,
) -> None:
    """Copy the index of VECTOR_STORE_TYPE to another store: passages, vectors, words, sources. The original stays."""
    from app.wiring.storage import copy_index

    source, target = read_settings(), load_settings(vector_store_type=to)
    with progress_bar("Copying") as progress:
        passages = copy_index(source, target, replace=replace, progress=progress)
    show(f"Copied {passages} passages from {source.store.kind} to {to}; set VECTOR_STORE_TYPE={to} to use them.")


def migrate() -> None:
    """Create or upgrade the tables of the ledger, in its file or in the database of DATABASE_URL."""
    from app.wiring.storage import ledger_of

    database = ledger_of(read_settings())
    database.migrate()
    show(f"The tables in {database.place} are up to date (version {database.fact('schema')}).")


def upgrade() -> None:
    """Bring what earlier programs kept in files and other tables into the ledger; nothing is embedded again."""
    from app.wiring import open_index
    from app.wiring.storage import bring_index_over, bring_over

    settings = read_settings()
    index = bring_index_over(settings, open_index(settings).stored)
    lines = [*filter(None, [index]), *bring_over(settings)]
    for line in lines:
        show(f"Brought over {line}.")
    if not lines:
        show("There is nothing to bring over.")


def read_settings(paths: Sequence[str] = ()) -> Settings:
    """Return the settings of the index that is asked, or the paths go into; warn of variables that nothing reads."""
    from app.wiring.storage import settings_to_ask

    settings = load_settings()
    if names := unused_warning():
        log.warning("unknown_settings", names=names)
    return settings if paths else settings_to_ask(settings)


def service_to_ask(settings: Settings | None = None, *, serving: bool = False, logs_answers: bool = False) -> "Service":
    """Return the service over the index that is asked; that of the sample corpus is filled first.

    Raise VectorStoreError if the index is empty; a service starts all the same, because documents may be added to it.
    """
    from app.wiring import open_service, sample_corpus
    from app.wiring.storage import SAMPLE_INDEX, ingest_command, ledger_of

    service = open_service(settings or read_settings(), serving=serving, logs_answers=logs_answers)
    settings, index = service.settings, service.index
    if settings.retrieval.url is not None:
        return service
    if settings.chroma.path == SAMPLE_INDEX:
        complain(SAMPLE_ANSWERS)
        ledger_of(settings).migrate()  # An earlier version of this program may have made it, by itself.
        if index.current().count() == 0:
            _run(index, [str(sample_corpus())])
    elif index.current().count() == 0:
        empty = f"The index is empty; run `{ingest_command(settings)}`"
        if not serving:
            raise VectorStoreError(empty)
        complain(empty)
    return service
