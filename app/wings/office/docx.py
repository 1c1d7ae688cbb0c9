"""Read Word documents (.docx) as markdown, by mammoth: headings, lists and tables stay."""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import mammoth
from bs4 import BeautifulSoup
from lxml import etree

from app.adapters.documents.html import without_unseen, words_of
from app.wings.office.office import office_properties, open_archive
from chains.ingestion.markup import PARSER, markdown_of
from chains.ingestion.source import SourceText, left_out, title_of
from chains.ingestion.tables import one_line
from chains.regular_files import open_file

# Beside mammoth's own: the document's title as a heading, and no table of contents.
STYLES = "\n".join(
    ["p[style-name='Title'] => h1:fresh", *(f"p[style-name='toc {level}'] => !" for level in range(1, 10))]
)
# What is not unpacked: pictures and fonts.
MEDIA = ("word/media/", "word/embeddings/", "word/fonts/")
WORDS = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
# The parts of the archive with text that mammoth reads, and the heads and feet of pages, which it does not.
TEXTS = re.compile(r"word/(?:document|footnotes|endnotes)\d*\.xml$")
EDGES = re.compile(r"word/(header|footer)\d*\.xml$")

_PAGE_NUMBER = re.compile(r"\W*(?:page|seite|pagina)?\W*\d*\W*(?:of|von|/|di|de)?\W*\d*\W*", re.IGNORECASE)


def load_docx(path: Path) -> SourceText:
    """Read a Word document; its title is that of its properties, or its first heading, or the file's name.

    What Word hides or strikes out is left out, with a warning. The heads and feet of its pages are read once.
    """
    with open_file(path) as file, open_archive(file, besides=MEDIA) as archive:
        properties = office_properties(archive)
        hidden: list[str] = []
        content = _readable(archive, hidden)
        heads, feet = (list(_edges(archive, kind)) for kind in ("header", "footer"))
    html = mammoth.convert_to_html(content, style_map=STYLES, convert_image=_alternative_text).value
    first = re.match(r"<h1>.*?</h1>", html)  # What stands on every page is about what the title names.
    place = first.end() if first else 0
    page = BeautifulSoup("".join([html[:place], *heads, html[place:], *feet]), PARSER)
    warnings = [*left_out(hidden, "hidden in Word"), *without_unseen(page)]
    title = words_of(page.select_one("h1")) or title_of(path)
    return SourceText(markdown_of(page), 0, {"title": title} | properties, warnings=tuple(warnings))


def _alternative_text(image: Any) -> list[Any]:
    words = one_line(image.alt_text)
    return [mammoth.html.text(f" {words} ")] if words else []


def _readable(archive: ZipFile, hidden: list[str]) -> io.BytesIO:
    """Return the archive without pictures and hidden text, formulas as text; `hidden` gets the texts."""
    content, styles = io.BytesIO(), set[str]()
    if "word/styles.xml" in archive.namelist():
        for style in _parsed(archive.read("word/styles.xml")).iter(f"{WORDS}style"):
            properties = style.find(f"{WORDS}rPr")
            if properties is not None and _is_hidden(properties, set()):
                styles.add(str(style.get(f"{WORDS}styleId")))
    with ZipFile(content, "w") as copy:
        for name in archive.namelist():
            if not name.startswith(MEDIA):
                part = archive.read(name)
                copy.writestr(name, _rewritten(part, styles, hidden) if TEXTS.match(name) else part)
    content.seek(0)
    return content


def _rewritten(part: bytes, styles: set[str], hidden: list[str]) -> bytes:
    root = _parsed(part)
    for struck in list(root.iter(f"{WORDS}dstrike")):
        struck.tag = f"{WORDS}strike"
    for run in list(root.iter(f"{WORDS}r")):
        properties = run.find(f"{WORDS}rPr")
        paragraph = run.getparent().find(f"{WORDS}pPr/{WORDS}pStyle")
        in_hidden = paragraph is not None and paragraph.get(f"{WORDS}val") in styles
        if in_hidden or (properties is not None and _is_hidden(properties, styles)):
            if words := one_line("".join(text.text or "" for text in run.iter(f"{WORDS}t"))):
                hidden.append(words)
            run.getparent().remove(run)
    for formula in list(root.iter(f"{MATH}oMath")):
        run = etree.Element(f"{WORDS}r")
        etree.SubElement(run, f"{WORDS}t").text = _formula(formula)
        formula.getparent().replace(formula, run)
    for block in list(root.iter(f"{MATH}oMathPara")):
        for run in list(block):
            block.addprevious(run)
        block.getparent().remove(block)
    etree.strip_tags(root, etree.Entity)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8"))


def _parsed(part: bytes) -> Any:
    return etree.fromstring(part, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False))


def _is_hidden(properties: Any, styles: set[str]) -> bool:
    vanish, style = properties.find(f"{WORDS}vanish"), properties.find(f"{WORDS}rStyle")
    if vanish is not None:
        return vanish.get(f"{WORDS}val") not in {"0", "false", "off"}
    return style is not None and style.get(f"{WORDS}val") in styles


def _formula(node: Any) -> str:
    """Return a formula on one line: `L = W / 4`, `a^2`, `sqrt(x)`."""
    name = etree.QName(node).localname
    if name == "t":
        return node.text or ""
    parts = (
        {etree.QName(child).localname: _formula(child) for child in node}
        if name in {"f", "sSup", "sSub", "sSubSup", "rad"}
        else {}
    )
    if name == "f":
        return f"{_grouped(parts.get('num', ''))}/{_grouped(parts.get('den', ''))}"
    if name == "rad":
        return f"sqrt({parts.get('e', '')})"
    if parts:
        lower = f"_{_grouped(parts['sub'])}" if "sub" in parts else ""
        upper = f"^{_grouped(parts['sup'])}" if "sup" in parts else ""
        return f"{parts.get('e', '')}{lower}{upper}"
    if name == "d":
        return f"({''.join(map(_formula, node))})"
    return "".join(_formula(child) for child in node if isinstance(child.tag, str) and not child.tag.endswith("Pr"))


def _grouped(words: str) -> str:
    return f"({words})" if re.search(r"[^\w.]", words.strip()) else words.strip()


def _edges(archive: ZipFile, kind: str) -> Iterator[str]:
    """Return the paragraphs of the heads or feet of pages as HTML, each once, without page numbers."""
    names = [name for name in archive.namelist() if (found := EDGES.match(name)) and found[1] == kind]
    paragraphs = (paragraph for name in sorted(names) for paragraph in _parsed(archive.read(name)).iter(f"{WORDS}p"))
    texts = (one_line(" ".join(text.text or "" for text in paragraph.iter(f"{WORDS}t"))) for paragraph in paragraphs)
    for words in dict.fromkeys(texts):
        if not _PAGE_NUMBER.fullmatch(words):
            tag = BeautifulSoup("", PARSER).new_tag("p")
            tag.string = words
            yield str(tag)
