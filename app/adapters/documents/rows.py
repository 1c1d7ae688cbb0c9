"""Read JSON, and lines of JSON objects, as text that says on its own what a value means: `- Goods: Gold; Rate: nil`."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from chains.errors import IngestionError
from chains.ingestion.source import MAX_NAME, SourceText, require_words, storable, title_of
from chains.ingestion.statements import Stated
from chains.ingestion.tables import one_line
from chains.regular_files import read_any_text

FORM = (
    'every line has to be one JSON object, like {"title": "Gold", "text": "Gold is free of duty."} or a row of values'
)


def load_json_lines(path: Path) -> SourceText:
    """Read a file of JSON objects, one a line.

    An object with a `text` becomes a section under its `title`, with its other values below the text; any other object
    becomes a line of its values with their names. What one line says of who may read it holds for the file.
    """
    text, warnings = read_any_text(path)
    text = text.removeprefix("\ufeff")
    require_words(text)
    values = []
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            value = json.loads(line) if line.strip() else {}
        except (ValueError, RecursionError) as error:
            raise IngestionError(f"line {number} is no JSON; {FORM}") from error
        if not isinstance(value, dict):
            raise IngestionError(f"line {number} is no JSON object; {FORM}")
        values += [value] * bool(line.strip())
    return _source(_outline(values, 2), values, path, warnings)


def load_json(path: Path) -> SourceText:
    """Read a file of JSON: objects within it are sections under their names, and a list of objects is a row each."""
    text, warnings = read_any_text(path)
    require_words(text)
    try:
        value = json.loads(text.removeprefix("\ufeff"))
        source = _source(_outline(value, 2), value, path, warnings)
    except (ValueError, RecursionError) as error:
        raise IngestionError("the file is no JSON, or is nested too deeply") from error
    title = one_line(value.get("title"))[:MAX_NAME] if isinstance(value, dict) else ""
    return replace(source, metadata=source.metadata | {"title": title}) if title else source


def _source(parts: Iterable[str], values: Any, path: Path, warnings: tuple[str, ...]) -> SourceText:
    stated = Stated()
    stated.note_all(values)
    body = "\n".join(parts)
    require_words(body)
    return SourceText(storable(body) + "\n", 0, {"title": title_of(path)} | stated.strictest(), warnings=warnings)


def _outline(value: Any, level: int) -> Iterator[str]:
    """Yield the lines of a value: what has a name and holds objects is a section."""
    if isinstance(value, list):
        for number, item in enumerate(value, start=1):
            yield _section(item, number) if isinstance(item, dict) else f"- {_words(item)}"
    elif isinstance(value, dict):
        holds = {
            name: inner
            for name, inner in value.items()
            if isinstance(inner, dict) or (isinstance(inner, list) and any(isinstance(item, dict) for item in inner))
        }
        yield from (f"- {_row({name: inner})}" for name, inner in value.items() if name not in holds and _words(inner))
        for name, inner in holds.items():
            yield f"\n{'#' * min(6, level)} {one_line(name)[:MAX_NAME]}\n"
            yield from _outline(inner, level + 1)
    else:
        yield _words(value)


def _section(values: Mapping[str, Any], number: int) -> str:
    text = values.get("text")
    if not isinstance(text, str) or not text.strip():
        return f"- {_row(values)}" if values else ""
    heading = one_line(values.get("title"))[:MAX_NAME] or f"Line {number}"
    more = _row({name: value for name, value in values.items() if name not in {"text", "title"}})
    return "\n".join([f"\n## {heading}\n", text.strip(), *([f"\n- {more}"] if more else []), ""])


def _row(values: Mapping[str, Any]) -> str:
    fields = {one_line(name): _words(value) for name, value in values.items()}
    return "; ".join(f"{name}: {value}" for name, value in fields.items() if value)


def _words(value: Any) -> str:
    return one_line(json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list | bool) else value)
