"""Read books (.epub): an archive of XHTML pages in the order of its spine; chapters become sections."""

import posixpath
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote
from zipfile import ZipFile

from bs4 import BeautifulSoup

from app.adapters.documents.html import main_part, words_of
from app.wings.office.office import open_archive, xml_of
from chains.errors import IngestionError
from chains.ingestion.markup import HEADINGS, PARSER, markdown_of
from chains.ingestion.source import SourceText, given, require_words, title_of
from chains.regular_files import open_file

CONTAINER = "META-INF/container.xml"
RIGHTS = "META-INF/rights.xml"
# What is not unpacked: pictures, sounds and fonts.
MEDIA = (".jpg", ".jpeg", ".png", ".gif", ".webp", ".mp3", ".mp4", ".ttf", ".otf", ".woff", ".woff2")
CHAPTERS = {"application/xhtml+xml", "text/html"}


def load_epub(path: Path) -> SourceText:
    """Read the chapters of a book as markdown; the table of contents is left out."""
    with open_file(path) as file, open_archive(file, besides=MEDIA) as archive:
        if RIGHTS in archive.namelist():
            raise IngestionError("the book is protected against copying, and cannot be read")
        place = str(xml_of(archive, CONTAINER).find("rootfile")["full-path"])
        package = xml_of(archive, place)
        title = words_of(package.find("title")) or title_of(path)
        items = {item["id"]: item for item in package.find_all("item")}
        spine = (items.get(reference["idref"]) for reference in package.find_all("itemref"))  # In the order of reading.
        names = [
            posixpath.normpath(posixpath.join(posixpath.dirname(place), unquote(item["href"])))
            for item in spine
            if item and item["media-type"] in CHAPTERS and "nav" not in item.get("properties", "").split()
        ]
        chapters = [_chapter(archive, name, title) for name in dict.fromkeys(names)]
    text = "\n".join(filter(None, chapters))
    require_words(text)
    date = words_of(package.find("meta", property="dcterms:modified")) or words_of(package.find("date"))
    return SourceText(text, 0, given(title=title, author=words_of(package.find("creator")), file_date=date[:10]))


def _chapter(archive: ZipFile, name: str, book: str) -> str:
    """Return a chapter as markdown; one without a heading gets its own title, if that is not the book's."""
    page = BeautifulSoup(archive.read(name), PARSER)
    title = words_of(page.title)
    part = main_part(page)
    heading = "" if part.find(HEADINGS) or title == book else title
    with suppress(IngestionError):  # Covers and pages of pictures have no text.
        return f"# {heading}\n\n{markdown_of(part)}" if heading else markdown_of(part)
    return ""
