"""Write the rows of a table so that each says on its own what its values mean: `- Goods: Gold; Rate: nil`."""

from collections.abc import Iterable, Sequence

from chains.errors import IngestionError
from chains.ingestion.source import MAX_BYTES, MAX_NAME, storable, without_controls


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
