"""Turn HTML into Markdown: headings, lists, links and tables stay; what nobody sees goes."""

import re
from collections.abc import Iterator
from typing import Any

from bs4 import BeautifulSoup, Tag
from markdownify import MarkdownConverter

from chains.errors import IngestionError
from chains.ingestion.source import require_words, storable
from chains.ingestion.tables import Cell, grid_of, table_text

PARSER = "lxml"  # Python's own does not know where a tag ends that its author left open.
STRUCK = "s, strike, del"
HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"]
MOST_SPANNED = 1000  # As in browsers, for columns; rows end with their table.

_LOOKS_LIKE_MARKUP = re.compile(r"^([^\S\n]*+)(#{1,6}(?=\s|$)|[-=]++[^\S\n]*$|\||```|~~~)", re.MULTILINE)
_EMPTY_LINES = re.compile(r"\n{3,}")
_ADDRESS = re.compile(r"(?:mailto|tel|sms|fax|callto):([^?]+)|(https?://\S+)", re.IGNORECASE)


def markdown_of(page: Tag) -> str:
    """Return the text below a tag as markdown. Raise IngestionError if there is none, or it is nested too deeply."""
    try:
        for table in page.find_all("table"):
            nested = [inner for inner in table.find_all("table") if inner.find_parent("table") is table]
            if _arranges(table, nested):
                parts = table.find_all(["thead", "tbody", "tfoot", "tr", "td", "th"])
                for part in [table, *(part for part in parts if part.find_parent("table") is table)]:
                    part.name = "div"
            else:  # A table within a cell of another one comes behind it.
                for inner in reversed(nested):
                    table.insert_after(inner.extract())
        text = str(_Converter().convert_soup(page))
    except RecursionError as error:
        raise IngestionError("the tags of the page are nested too deeply to be read") from error
    lines = (line.rstrip() for line in storable(text).replace("\xad", "").split("\n"))
    text = _EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip() + "\n"
    require_words(text)
    return text


def table_of(html: str) -> str:
    """Return the HTML of a table as markdown; nothing where it holds no words."""
    try:
        return markdown_of(BeautifulSoup(html, PARSER))
    except IngestionError:
        return ""


def as_markdown(text: str) -> str:
    """Return plain text in which nothing is taken for a heading, a table or a code block."""
    return _LOOKS_LIKE_MARKUP.sub(r"\1\\\2", text)


class _Converter(MarkdownConverter):
    """Writes words as they are: only what would be taken for a heading, a table or a code block gets a backslash."""

    def __init__(self) -> None:
        super().__init__(heading_style="ATX", bullets="-")
        self._cells: dict[int, str] = {}

    def escape(self, text: str, parent_tags: set[str]) -> str:
        return text if parent_tags & {"td", "th"} else as_markdown(text)

    def convert_strong(self, node: Tag, text: str, parent_tags: set[str]) -> str:
        return text

    convert_b = convert_em = convert_i = convert_strong

    def convert_a(self, node: Tag, text: str, parent_tags: set[str]) -> str:
        """Write the address that a link leads to behind its words, where these do not hold it."""
        address = _ADDRESS.match(str(node.get("href") or ""))
        target = (address[1] or address[2]) if address else ""
        return f"{text} ({target})" if target and text.strip() and target not in text else text

    def convert_img(self, node: Tag, text: str, parent_tags: set[str]) -> str:
        return " ".join(str(node.get("alt") or "").split())

    def convert_td(self, node: Tag, text: str, parent_tags: set[str]) -> str:
        self._cells[id(node)] = text
        return text

    convert_th = convert_td

    def convert_table(self, node: Tag, text: str, parent_tags: set[str]) -> str:
        rows = ([self._cell(cell) for cell in _own(row, ["td", "th"])] for row in _own(node, ["tr"]))
        caption = node.find("caption")
        title = " ".join(caption.get_text(" ").split()) if isinstance(caption, Tag) else ""
        return "\n\n" + "\n\n".join(filter(None, [title, table_text(grid_of(rows))])) + "\n\n"

    def _cell(self, node: Tag) -> Cell:
        is_head = node.name == "th" or node.find_parent(["thead", "table"]).name == "thead"  # type: ignore[union-attr]
        return Cell(
            self._cells.get(id(node), ""), _count(node, "rowspan"), min(_count(node, "colspan"), MOST_SPANNED), is_head
        )


def _count(node: Tag, name: str) -> int:
    value = str(node.get(name) or "1").strip()
    return max(1, int(value)) if value.isascii() and value.isdigit() and len(value) < 6 else 1  # noqa: PLR2004


def _own(node: Tag, names: list[str]) -> Iterator[Tag]:
    """Yield the rows of a table, or the cells of a row, without those of tables in it."""
    outer = node if node.name == "table" else node.find_parent("table")
    for child in node.find_all(names):
        if child.find_parent("table") is outer:
            yield child


def _arranges(table: Tag, nested: list[Any]) -> bool:
    """Say whether a table only arranges a page: it has no rows with two cells of words, or holds headings."""
    if str(table.get("role")) in {"presentation", "none"} or table.find(HEADINGS):
        return True
    if not nested:
        return False
    rows = 0
    for row in _own(table, ["tr"]):
        cells = [cell for cell in _own(row, ["td", "th"]) if not cell.find("table") and cell.get_text(strip=True)]
        rows += len(cells) > 1
    return rows < 2  # noqa: PLR2004 - A row of names, and one of values.
