"""A markdown file -> its text, where the body begins in it, and the metadata of its front matter."""

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from chains.errors import IngestionError
from chains.ingestion.source import SourceText, read_text, require_words, title_of

ENDINGS = frozenset({".md", ".markdown"})

_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_OPENED = re.compile(r"\A\ufeff?---[ \t]*\n[ \t]*[\w-]+[ \t]*:")
_TITLE = re.compile(r"^#[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)


def load_markdown(path: Path) -> SourceText:
    """Read a markdown file with optional YAML front matter; line ends are read as line feeds.

    Raises:
        IngestionError: the file cannot be read, is no UTF-8 text, is empty, or its front matter is broken.
    """
    text = read_text(path)
    found = _FRONT_MATTER.match(text)
    if found is None and _OPENED.match(text):
        msg = "the front matter opened by '---' is never closed; end it with a line of three dashes"
        raise IngestionError(msg)
    start = found.end() if found else 0
    require_words(text[start:])
    return SourceText(text, start, _metadata(_parse(found.group(1)) if found else {}, text[start:], path))


def _parse(front_matter: str) -> dict[str, Any]:
    try:
        values = yaml.safe_load(front_matter)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 2}" if mark else ""
        msg = f"the front matter is no valid YAML{where}: {getattr(error, 'problem', None) or 'it cannot be parsed'}"
        raise IngestionError(msg) from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        msg = f"the front matter is a {type(values).__name__}; it has to be a list of `name: value` lines"
        raise IngestionError(msg)
    return values


def _metadata(values: dict[str, Any], body: str, path: Path) -> dict[str, str]:
    heading = _TITLE.search(body)
    title = _plain(values.get("title")) or (heading.group(1) if heading else title_of(path))
    metadata = {
        "title": title,
        "source_org": _plain(values.get("source_organization")),
        "source_urls": json.dumps(_urls(values.get("source_urls")), ensure_ascii=False),
        "source_type": _plain(values.get("source_type")),
        "jurisdiction": _plain(values.get("jurisdiction")),
        "last_updated": _plain(values.get("last_updated")),
        "keywords": _plain(values.get("retrieval_keywords")),
    }
    return {name: value for name, value in metadata.items() if value}


def _plain(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return ", ".join(filter(None, map(_plain, value)))
    return " ".join(str(value).split())


def _urls(values: Any) -> list[str]:
    entries = values if isinstance(values, list) else [values] if values else []
    urls = (entry.get("url") if isinstance(entry, dict) else entry for entry in entries)
    return [str(url).strip() for url in urls if url]
