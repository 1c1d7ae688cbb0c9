"""Load the texts of prompts and fallbacks: a deployment's own, or the packaged ones, and those in other languages."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

Translations = Mapping[str, Mapping[str, str]]
"""For each language, by its code, what a text is in it."""


@cache
def load(name: str, folder: Path | None = None) -> str:
    """Return the prompt `name`, without its last line break; a file in `folder` replaces the packaged one.

    Raises:
        FileNotFoundError: there is no prompt of that name.
    """
    own = folder / f"{name}.txt" if folder else None
    return _read(own if own and own.is_file() else files(__name__) / f"{name}.txt")


def texts(folder: Path | None = None) -> dict[str, str]:
    """Return every prompt by its name, those in `folder` instead of the packaged ones."""
    return {name: load(name, folder) for name in _names(files(__name__))}


@cache
def translations(folder: Path | None = None) -> Translations:
    """Return what the texts are in other languages: `id/NAME.txt` is that in Indonesian.

    A file in `folder` goes before a packaged one, and a text of the deployment's own stays untranslated without one.
    """
    packaged = {
        language: {load(name): text for name, text in found.items()} for language, found in _languages(files(__name__))
    }
    own = dict(_languages(folder)) if folder else {}
    return {
        language: packaged.get(language, {})
        | {load(name, folder): text for name, text in own.get(language, {}).items()}
        for language in {*packaged, *own}
    }


def translated(text: str, language: str | None, known: Translations) -> str:
    """Return a text in a language such as `id` or `id-ID`; itself where that is not known."""
    code = (language or "").partition("-")[0].lower()
    return known.get(code, {}).get(text, text)


def _languages(folder: Traversable) -> Iterator[tuple[str, dict[str, str]]]:
    for part in folder.iterdir():
        if part.is_dir() and (names := _names(part)):
            yield part.name, {name: _read(part / f"{name}.txt") for name in names}


def _names(folder: Traversable) -> list[str]:
    return [file.name.removesuffix(".txt") for file in folder.iterdir() if file.name.endswith(".txt")]


def _read(file: Traversable) -> str:
    return file.read_text(encoding="utf-8").rstrip("\n")
