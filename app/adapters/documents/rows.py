"""Rows of tables and of JSON lines as text that says on its own what each value means: `- Goods: Gold; Rate: nil`."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from chains.errors import IngestionError
from chains.ingestion.source import MAX_NAME, SourceText, require_words, storable, title_of, without_controls
from chains.ingestion.statements import Stated
from chains.regular_files import MAX_BYTES, read_text


def rows_text(rows: Iterable[Sequence[object]]) -> str:
    """Return a line for each row, with the names of its columns; empty rows and empty cells are left out.

    The first row with more than one cell names the columns; what stands above it is kept as lines without names, and so
    is every row of a table of one column. A column without a name is called by its number.

    Raises:
        IngestionError: it is more text than a file may hold.
    """
    filled = [cells for cells in (_cells(row) for row in _bounded(rows)) if any(cells)]
    head = next((number for number, cells in enumerate(filled) if _count(cells) > 1), len(filled))
    lines = ["- " + "; ".join(filter(None, cells)) for cells in filled[:head]]
    if head == len(filled) - 1:  # Names without a row below them are all that there is.
        lines.append("- " + "; ".join(filter(None, filled[head])))
    lines += [f"- {_named(filled[head], cells)}" for cells in filled[head + 1 :]]
    return "\n".join(lines)


def one_line(value: object) -> str:
    """Return a value as text in one line that every store can keep."""
    return " ".join(without_controls(storable(str("" if value is None else value))).split())


def _cells(row: Sequence[object]) -> list[str]:
    cells = [one_line(value) for value in row]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _count(cells: Sequence[str]) -> int:
    return sum(map(bool, cells))


def _named(names: Sequence[str], cells: Sequence[str]) -> str:
    known = [name[:MAX_NAME] or f"Column {number}" for number, name in enumerate(names, start=1)]
    known += [f"Column {number}" for number in range(len(known) + 1, len(cells) + 1)]
    return "; ".join(f"{name}: {cell}" for name, cell in zip(known, cells, strict=False) if cell)


def _bounded(rows: Iterable[Sequence[object]]) -> Iterable[Sequence[object]]:
    size = 0
    for row in rows:
        size += sum(len(str(value)) for value in row if value is not None)
        if size > MAX_BYTES:
            msg = f"its tables hold more than {MAX_BYTES // 2**20} MB of text; split it"
            raise IngestionError(msg)
        yield row


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
    text = read_text(path).removeprefix("\ufeff")
    require_words(text)
    stated, parts = Stated(), []
    for number, value in _objects(text):
        stated.note_all(value)
        parts.append(_section(value, number))
    body = "\n".join(parts)
    require_words(body)
    return SourceText(storable(body) + "\n", 0, {"title": title_of(path)} | stated.strictest())


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
