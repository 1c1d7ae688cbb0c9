"""`waypoint copy`: an index from one kind of store to another, without embedding again."""

from typing import Annotated, Literal

import typer

from app.cli.ingest import read_settings
from app.cli.rendering import progress_bar, show
from app.settings import load_settings


def copy(
    to: Annotated[
        Literal["chroma", "memory", "postgres"],
        typer.Option(help="The store that takes it; its own settings say where it is."),
    ],
    replace: Annotated[bool, typer.Option("--replace", help="Put the copy in the place of what is there.")] = False,
) -> None:
    """Copy the index of VECTOR_STORE_TYPE to another store: chunks, vectors, words, records. It stays where it is."""
    from app.wiring.copying import copy_index

    source, target = read_settings(), load_settings(vector_store_type=to)
    with progress_bar("Copying") as progress:
        chunks = copy_index(source, target, replace=replace, progress=progress)
    show(f"Copied {chunks} chunks from {source.vector_store_type} to {to}; VECTOR_STORE_TYPE={to} uses them.")
