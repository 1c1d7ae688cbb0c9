"""Read lines of JSON objects as text that says on its own what each value means: `- Goods: Gold; Rate: nil`."""

import json
from collections.abc import Iterator, Mapping
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

    Raises:
        IngestionError: the file cannot be read, has no text, or a line of it is no JSON object.
    """
    text, warnings = read_any_text(path)
    text = text.removeprefix("\ufeff")
    require_words(text)
    stated, parts = Stated(), []
    for number, value in _objects(text):
        stated.note_all(value)
        parts.append(_section(value, number))
    body = "\n".join(parts)
    require_words(body)
    return SourceText(storable(body) + "\n", 0, {"title": title_of(path)} | stated.strictest(), warnings=warnings)


def _objects(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            msg = f"line {number} is no JSON; {FORM}"
            raise IngestionError(msg) from error
        if not isinstance(value, dict):
            msg = f"line {number} is no JSON object; {FORM}"
            raise IngestionError(msg)
        yield number, value


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
