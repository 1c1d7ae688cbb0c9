"""Ten made tables with merged cells, as a page and as a document of each Office format: every row keeps its region."""

import random
from html import escape

import pytest

from benchmarks.spans import FORMATS, read, rows_right
from chains.ingestion.tables import Cell

REGIONS = ["Norland", "Sudmark", "Ostrand", "Westholm", "Midvale"]
GOODS = ["Chilled", "Frozen", "Live animals", "Paper", "Timber", "Salt"]


def made(seed: int) -> tuple[list[list[Cell]], list[list[str]]]:
    """Return the cells of a table, a region over its rows, and the rows as they are meant."""
    chance = random.Random(seed)  # noqa: S311 - No secret.
    years = [Cell(str(2024 + number)) for number in range(chance.randint(1, 3))]
    cells = [[Cell(name, is_head=True) for name in ("Region", "Goods", *(year.text for year in years))]]
    rows = []
    for region in chance.sample(REGIONS, chance.randint(2, 4)):
        goods = chance.sample(GOODS, chance.randint(1, 4))
        for number, name in enumerate(goods):
            values = [f"{chance.randint(2, 99)}.{chance.randint(0, 9)} %" for _ in years]
            own = [Cell(region, rows=len(goods))] * (number == 0)
            cells.append([*own, Cell(name), *map(Cell, values)])
            rows.append([region, name, *values])
    return cells, rows


def as_html(cells: list[list[Cell]]) -> bytes:
    rows = ("".join(f"<td rowspan={cell.rows}>{escape(cell.text)}</td>" for cell in row) for row in cells)
    return f"<table><tr>{'</tr><tr>'.join(rows)}</tr></table>".encode()


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("ending", "write"), [("html", as_html), *FORMATS.items()])
def test_every_row_of_a_merged_table_has_its_region(ending, write, seed):
    cells, rows = made(seed)
    assert rows_right(read(write(cells), ending), rows) == len(rows)
