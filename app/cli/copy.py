"""`waypoint copy`, `migrate`, `upgrade`: bring an index to another store, and what earlier programs kept into it."""

from typing import Annotated, Literal

import typer

from app.cli.ingest import read_settings
from app.cli.rendering import progress_bar, show
from app.settings import load_settings


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
    from app.wiring.upgrade import bring_index_over, bring_over

    settings = read_settings()
    index = bring_index_over(settings, open_index(settings).stored)
    lines = [*filter(None, [index]), *bring_over(settings)]
    for line in lines:
        show(f"Brought over {line}.")
    if not lines:
        show("There is nothing to bring over.")
