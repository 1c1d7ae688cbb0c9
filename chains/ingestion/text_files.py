"""Load text and markdown with its front matter, also of unusual forms."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from chains.errors import IngestionError
from chains.ingestion.source import MAX_NAME, SourceText, require_words, title_of, without_controls
from chains.ingestion.statements import Stated, plain_name, strings
from chains.regular_files import read_text
from chains.safe_yaml import Pairs, YamlError, read_values
from chains.source_urls import not_links, source_urls
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


MAX_FRONT_MATTER = 16_000
MAX_VALUES = 1000
MOST_WARNINGS, MAX_SHOWN = 5, 80

_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_OPENED = re.compile(r"\A\ufeff?---[ \t]*\n[ \t]*[\w-]+[ \t]*:")
_TITLE = re.compile(r"^#[ \t](.*)$", re.MULTILINE)
_CLOSING = re.compile(r"(?:^|[ \t])#+$")


def load_markdown(path: Path) -> SourceText:
    """Read a markdown file with optional YAML front matter; line ends are read as line feeds.

    Raises:
        IngestionError: the file cannot be read, is not UTF-8 text, is empty, or its front matter is broken.
    """
    text = read_text(path)
    stated = Stated()
    values, start = _front_matter(text, stated)
    if start == 0 and _OPENED.match(text):
        msg = "the front matter opened by '---' is never closed; end it with a line of three dashes"
        raise IngestionError(msg)
    require_words(text[start:])
    metadata = _metadata(values, text[start:], path) | stated.strictest()
    return SourceText(text, start, metadata, warnings=tuple(_warnings(values)))


def load_plain(path: Path) -> SourceText:
    """Read a file of plain text; line ends are read as line feeds. Of a front matter only what decides who sees it.

    Raises:
        IngestionError: the file cannot be read, is not UTF-8 text, or is empty.
    """
    text = read_text(path)
    start = len(text) - len(text.removeprefix("\ufeff"))
    require_words(text[start:])
    stated = Stated()
    with suppress(IngestionError):  # What only begins like a front matter is text.
        _front_matter(text, stated)
    return SourceText(text, start, {"title": title_of(path)} | stated.strictest(), plain=True)


LOADERS = {
    **dict.fromkeys((".md", ".markdown"), load_markdown),
    **dict.fromkeys((".txt", ".text"), load_plain),
}


def _front_matter(text: str, stated: Stated) -> tuple[dict[str, Any], int]:
    """Return the values of the front matter, and where the text below it begins; nothing and 0 without one."""
    found = _FRONT_MATTER.match(text)
    return (_parse(found[1], stated), found.end()) if found else read_unusual(text, _parse, stated)


def _parse(front_matter: str, stated: Stated) -> dict[str, Any]:
    """Return the values of a front matter as strings, lists and dictionaries.

    YAML's dates and numbers stay as they are written: all metadata is text, and a date such as 2024-02-30 is no reason
    to refuse a document. Of a name that stands twice the last value is returned; `stated` collects all.
    """
    if len(front_matter) > MAX_FRONT_MATTER:
        msg = f"the front matter is longer than {MAX_FRONT_MATTER} characters"
        raise IngestionError(msg)

    def mapping(pairs: Pairs) -> dict[str, Any]:
        named = [(plain_name(name), value) for name, value in pairs]
        for name, value in named:
            stated.note(name, value)
        return dict(named)

    try:
        values = read_values(front_matter, most_values=MAX_VALUES, object_pairs_hook=mapping)
    except YamlError as error:
        msg = f"the front matter {error.problem} at line {error.line + 1}"
        raise IngestionError(msg) from error
    if not isinstance(values or {}, dict):
        msg = f"the front matter is a {type(values).__name__}; it must be a list of `name: value` lines"
        raise IngestionError(msg)
    return values or {}


def _metadata(values: dict[str, Any], body: str, path: Path) -> dict[str, str]:
    metadata = {
        "title": _plain(values.get("title")) or _first_heading(body) or title_of(path),
        "source_org": _plain(values.get("source_organization")),
        "source_urls": json.dumps(source_urls(values.get("source_urls")), ensure_ascii=False),
        "source_type": _plain(values.get("source_type")),
        "jurisdiction": _plain(values.get("jurisdiction")),
        "last_updated": _plain(values.get("last_updated")),
        "review_by": _plain(values.get("review_by")),
        "keywords": _plain(values.get("retrieval_keywords")),
        "category": _plain(values.get("category")),
    }
    return {name: value for name, value in metadata.items() if value}


def _first_heading(body: str) -> str:
    headings = (_plain(_CLOSING.sub("", found[1].strip())) for found in _TITLE.finditer(body))
    return next(filter(None, headings), "")[:MAX_NAME]


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, map(_plain, value)))
    return " ".join(without_controls(str(value or "")).split())


def _warnings(values: dict[str, Any]) -> Iterator[str]:
    for text in not_links(values.get("source_urls"))[:MOST_WARNINGS]:
        yield f"source_urls holds {text[:MAX_SHOWN]!r}, which is no link and is left out; write https://host/page"
