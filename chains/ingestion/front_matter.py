"""Read unusual front matter: after blank lines or a comment, between other fences, in TOML."""

import re
import tomllib
from collections.abc import Callable
from typing import Any

from chains.errors import IngestionError
from chains.ingestion.statements import Stated, strings
from chains.text.letters import visible

Parse = Callable[[str, Stated], dict[str, Any]]

# A block that has none of these is text between two lines, and no front matter.
NAMES = frozenset(
    {"audience", "category", "jurisdiction", "last_updated", "retrieval_keywords", "source_organization", "source_type"}
    | {"source_urls", "title", "use_cases"}
)
MAX_CHARACTERS = 16_000

_BEFORE = re.compile(r"\A(?:[\s\ufeff\u00ad\u200b-\u200f\u2060-\u2064]+|<!--.*?-->)*", re.DOTALL)
_DASHES = re.compile(r"[-\u2010-\u2015\u2212]{3,}|[\u2014\u2015]-?|\.{3}")
_PLUSES = re.compile(r"\+{3,}")


def read_unusual(text: str, parse: Parse, stated: Stated) -> tuple[dict[str, Any], int]:
    """Return the values of a front matter of another form, and where the text below it begins; nothing and 0 without.

    `stated` collects what it says of who may read the document.
    """
    begin = _BEFORE.match(text)
    opening, *lines = text[begin.end() if begin else 0 :].splitlines(keepends=True)[:1000] or [""]
    fence = next((form for form in (_DASHES, _PLUSES) if form.fullmatch(visible(opening).strip())), None)
    end = next((number for number, line in enumerate(lines) if fence and fence.fullmatch(visible(line).strip())), None)
    block = "".join(lines[:end])
    if fence is None or end is None or len(block) > MAX_CHARACTERS:
        return {}, 0
    found = Stated()
    values = _values(block, found, _toml if fence is _PLUSES else parse) or _values(block, found, parse)
    if NAMES.isdisjoint(values):
        return {}, 0
    stated.values |= found.values
    return values, (begin.end() if begin else 0) + len(opening) + len(block) + len(lines[end])


def _values(block: str, stated: Stated, parse: Parse) -> dict[str, Any]:
    try:
        return parse(block, stated)
    except (IngestionError, ValueError, RecursionError):
        return {}


def _toml(block: str, stated: Stated) -> dict[str, Any]:
    values: dict[str, Any] = strings(tomllib.loads(block))
    stated.note_all(values)
    return values
