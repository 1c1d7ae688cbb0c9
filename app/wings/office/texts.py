"""Read texts of other markup: reStructuredText by docutils, RTF by pandoc; AsciiDoc, MDX and ODT are rewritten here."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup

from app.adapters.documents.html import words_of
from app.wings.office.office import open_archive, xml_of
from chains.errors import IngestionError
from chains.ingestion.markup import PARSER, markdown_of
from chains.ingestion.source import SourceText, given, own_title, require_words, storable, title_of
from chains.ingestion.tables import Cell, grid_of, table_text
from chains.ingestion.text_files import first_heading, load_markdown
from chains.regular_files import open_file, read_any_text, read_bytes

_MDX = re.compile(
    r"(?P<code>^(?P<fence>```|~~~).*?^(?P=fence)[^\n]*$)|^(?:import|export)\b[^\n]*(?:\n(?![ \t]*\n)[^\n]*)*\n?"
    r"|\{/\*.*?\*/\}|</?[A-Z][\w.]*(?:=>|[^<>])*>",
    re.MULTILINE | re.DOTALL,
)
# What AsciiDoc writes, and the Markdown that says the same.
_ASCIIDOC: list[tuple[re.Pattern[str], Any]] = [
    (re.compile(r"^////\n.*?^////\n", re.MULTILINE | re.DOTALL), ""),
    (re.compile(r"^(?://.*|:!?[\w-]+!?:.*|\[[^\]\n]*\]|<<<|\+|toc::.*|(?:={4,}|\*{4,}|_{4,}|--))\n", re.MULTILINE), ""),
    (re.compile(r"^(?:----|\.{4})$", re.MULTILINE), "```"),
    (re.compile(r"^(={1,6}) (?=\S)", re.MULTILINE), lambda found: "#" * len(found[1]) + " "),
    (re.compile(r"^\.(?=[^\s.])", re.MULTILINE), ""),
    (re.compile(r"^(\*+) (?=\S)", re.MULTILINE), lambda found: "  " * (len(found[1]) - 1) + "- "),
    (re.compile(r"^(?:\.+ .*\n?)+", re.MULTILINE), lambda found: _numbered(found[0])),
    (re.compile(r"(?:link:|(?=\bhttps?://|\bmailto:))([^\s\[\]]+)\[([^\]\n]+)\]"), r"\2 (\1)"),
    (re.compile(r"<<[^<>,\n]+,\s*([^<>\n]+)>>"), r"\1"),
    (re.compile(r"image::?[^\s\[]*\[([^\],\n]*)[^\]\n]*\]"), r"\1"),
    (re.compile(r"\[line-through\]#[^#\n]*#"), ""),
]
_ASCIIDOC_TABLE = re.compile(r"^\|===\n(.*?)^\|===$", re.MULTILINE | re.DOTALL)
_ASCIIDOC_CELL = re.compile(r"(?:^|(?<=\s))(?:(\d{1,3})?(?:\.(\d{1,4}))?\+)?[<^>.aehlmsd]{0,4}\|", re.MULTILINE)

# The tags of OpenDocument, and those of HTML; what is not shown goes.
_ODT = {"p": "p", "list-item": "li", "table": "table", "table-row": "tr", "table-cell": "td", "a": "a",
        "table-header-rows": "thead", "line-break": "br"}  # fmt: skip
_ODT_VALUES = {"rowspan": "table:number-rows-spanned", "colspan": "table:number-columns-spanned", "href": "xlink:href"}
_ODT_UNSEEN = "tracked-changes, annotation, sequence-decls, covered-table-cell, note-citation, hidden-text"
_PANDOC_S = 60


def load_mdx(path: Path) -> SourceText:
    """Read Markdown with components: their words stay, and what only a program reads goes."""
    source = load_markdown(path)
    front, text = source.text[: source.body_start], source.text[source.body_start :]
    text = _MDX.sub(lambda found: found["code"] or "", text)
    require_words(text)
    return replace(source, text=front + text)


def load_asciidoc(path: Path) -> SourceText:
    """Read AsciiDoc: headings, lists, tables and listings stay; comments, attributes and macros go."""
    text, warnings = read_any_text(path)
    text = _ASCIIDOC_TABLE.sub(lambda found: table_text(grid_of(_asciidoc_rows(found[1]))), text.removeprefix("\ufeff"))
    for pattern, markdown in _ASCIIDOC:
        text = pattern.sub(markdown, text)
    require_words(text)
    return SourceText(text, 0, {"title": first_heading(text) or title_of(path)}, warnings=warnings)


def _numbered(steps: str) -> str:
    """Return the lines of a numbered list, `. ` and `.. ` within it, with their numbers."""
    counts: list[int] = []
    lines = []
    for line in steps.splitlines(keepends=True):
        dots, _, words = line.partition(" ")
        counts = counts[: len(dots)] + [0] * (len(dots) - len(counts))
        counts[-1] += 1
        lines.append(f"{'   ' * (len(dots) - 1)}{counts[-1]}. {words}")
    return "".join(lines)


def _asciidoc_rows(body: str) -> Iterator[list[Cell]]:
    """Yield the rows of a table: its first line says how many columns there are, and is the head above a blank line."""
    starts = list(_ASCIIDOC_CELL.finditer(body))
    ends = [following.start() for following in starts[1:]] + [len(body)]
    first, _, rest = body.lstrip("\n").partition("\n")
    width = sum(int(cell[1] or 1) for cell in _ASCIIDOC_CELL.finditer(first))
    has_head = rest.startswith("\n")
    row: list[Cell] = []
    covered: list[int] = []  # For each row to come, how many of its places cells from above take.
    filled = 0
    for start, end in zip(starts, ends, strict=True):
        columns, rows = int(start[1] or 1), int(start[2] or 1)
        row.append(Cell(body[start.end() : end].strip().replace("\\|", "|"), rows, columns, is_head=has_head))
        covered += [0] * (rows - len(covered))
        for below in range(1, rows):
            covered[below] += columns
        filled += columns
        if filled + (covered[0] if covered else 0) >= width:
            yield row
            row, filled, has_head, covered = [], 0, False, covered[1:]
    if row:
        yield row


def load_rst(path: Path) -> SourceText:
    """Read reStructuredText by docutils, which includes no other file."""
    try:
        from docutils.core import publish_parts  # noqa: PLC0415 - An extra; only this format needs it.
    except ImportError as error:
        msg = "reading reStructuredText needs docutils: pip install 'waypoint-copilot[formats]'"
        raise IngestionError(msg) from error
    text, warnings = read_any_text(path)
    require_words(text)
    safe = {"file_insertion_enabled": False, "raw_enabled": False, "report_level": 5, "halt_level": 5}
    html = publish_parts(text, writer="html5", settings_overrides=safe | {"initial_header_level": 2})
    return _of_html(f"<h1>{html['title']}</h1>{html['body']}" if html["title"] else html["body"], path, warnings)


def load_rtf(path: Path) -> SourceText:
    """Read Rich Text by the program pandoc, which reads no other file."""
    program = shutil.which("pandoc", path="/usr/local/bin:/usr/bin:/opt/homebrew/bin")
    if program is None:
        raise IngestionError("reading RTF needs the program pandoc: install it, or save the file as DOCX")
    command = [program, "--sandbox", "--from", "rtf", "--to", "html"]
    content = read_bytes(path)
    done = subprocess.run(command, input=content, capture_output=True, timeout=_PANDOC_S, check=False)  # noqa: S603 - A fixed command.
    if done.returncode or not content.startswith(b"{\\rtf"):
        raise IngestionError("pandoc cannot read the file: it is damaged, or no RTF")
    return _of_html(done.stdout.decode("utf-8", "replace"), path)


def load_odt(path: Path) -> SourceText:
    """Read a text document of LibreOffice; what it strikes from the text and its remarks are left out."""
    with open_file(path) as file, open_archive(file, besides=("Pictures/", "Thumbnails/")) as archive:
        page, about = BeautifulSoup(archive.read("content.xml"), "lxml-xml"), xml_of(archive, "meta.xml")
    for tag in page.select(_ODT_UNSEEN):
        tag.decompose()
    numbered = {
        style["style:name"]
        for style in page.find_all("list-style")
        if style.find("list-level-style-number", attrs={"text:level": "1"})
    }
    for tag in page.find_all("list"):
        tag.name = "ol" if tag.get("text:style-name") in numbered else "ul"
    for tag in page.find_all(["h", "ol", "ul", *_ODT]):
        heading = f"h{min(6, int(str(tag.get('text:outline-level') or 1)))}"
        tag.name = heading if tag.name == "h" else _ODT.get(tag.name, tag.name)
        tag.attrs = {name: tag[theirs] for name, theirs in _ODT_VALUES.items() if tag.get(theirs)}
        tag.prefix = None
    source = _of_html(str(page.find("text") or page), path)
    title, changed = (words_of(about.find(name)) for name in ("title", "date"))
    return replace(source, metadata=source.metadata | given(title=own_title(title), file_date=changed[:10]))


def _of_html(html: str, path: Path, warnings: tuple[str, ...] = ()) -> SourceText:
    page = BeautifulSoup(html, PARSER)
    title = own_title(storable(words_of(page.select_one("h1")))) or title_of(path)
    return SourceText(markdown_of(page), 0, {"title": title}, warnings=warnings)
