"""Load the texts of prompts and fallbacks: a deployment's own, or the packaged ones."""

from functools import cache
from importlib.resources import files
from pathlib import Path


@cache
def load(name: str, folder: Path | None = None) -> str:
    """Return the prompt `name`, without its last line break; a file in `folder` replaces the packaged one.

    Raises:
        FileNotFoundError: there is no prompt of that name.
    """
    own = folder / f"{name}.txt" if folder else None
    source = own if own and own.is_file() else files("prompts") / f"{name}.txt"
    return source.read_text(encoding="utf-8").rstrip("\n")


def texts(folder: Path | None = None) -> dict[str, str]:
    """Return every prompt by its name, those in `folder` instead of the packaged ones."""
    names = (file.name.removesuffix(".txt") for file in files("prompts").iterdir() if file.name.endswith(".txt"))
    return {name: load(name, folder) for name in names}
