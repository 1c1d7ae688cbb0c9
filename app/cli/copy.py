"""`waypoint copy`: copy an index to another kind of store, without embedding again."""

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
    """Copy the index of VECTOR_STORE_TYPE to another store: chunks, vectors, words, records. The original stays."""
    from app.wiring.storage import copy_index

    source, target = read_settings(), load_settings(vector_store_type=to)
    with progress_bar("Copying") as progress:
        chunks = copy_index(source, target, replace=replace, progress=progress)
    show(f"Copied {chunks} chunks from {source.store.kind} to {to}; set VECTOR_STORE_TYPE={to} to use them.")
