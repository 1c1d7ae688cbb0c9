"""The page's own words: one file per language, and the choice of a language for a visitor."""

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "words"
DEFAULT = "en"
NAME = "language.name"  # The key of the language's own name.
_OLD_CODES = {"in": "id"}  # Java sends the code that Indonesian had until 1989.


@cache
def languages() -> Mapping[str, Mapping[str, str]]:
    files = sorted(FOLDER.glob("*.json"), key=lambda path: (path.stem != DEFAULT, path.stem))
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in files}


def text(words: Mapping[str, str], key: str, **values: object) -> str:
    """Return a text with `{name}` replaced by the values. Raise KeyError if no such text exists."""
    found = words[key]
    for name, value in values.items():
        found = found.replace(f"{{{name}}}", str(value))
    return found


def choose(requested: str | None, chosen_before: str | None, accept_language: str) -> str:
    weighed = []
    for part in accept_language[:1000].split(","):
        tag, _, weight = part.partition(";")
        code = tag.strip().lower().split("-")[0]
        with suppress(ValueError):
            weighed.append((float(weight.strip().removeprefix("q=") or 1), _OLD_CODES.get(code, code)))
    # Sorting is stable: equals stay in the visitor's order.
    preferred = [code for weight, code in sorted(weighed, key=lambda pair: -pair[0]) if weight > 0]
    return next((code for code in (requested, chosen_before, *preferred) if code in languages()), DEFAULT) or DEFAULT
