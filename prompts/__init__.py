"""A name -> the text of the prompt in the file of that name."""

from functools import cache
from importlib.resources import files


@cache
def load(name: str) -> str:
    """Return the prompt `name`, without its last line break.

    Raises:
        FileNotFoundError: there is no prompt of that name.
    """
    return (files("prompts") / f"{name}.txt").read_text(encoding="utf-8").rstrip("\n")


def texts() -> dict[str, str]:
    """Return every prompt by its name."""
    names = (file.name.removesuffix(".txt") for file in files("prompts").iterdir() if file.name.endswith(".txt"))
    return {name: load(name) for name in names}
