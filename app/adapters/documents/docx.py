"""A Word document (.docx) -> markdown, by mammoth: headings, lists and tables stay."""

import zipfile
from pathlib import Path

import mammoth
from bs4 import BeautifulSoup

from app.adapters.documents.html import PARSER, markdown_of
from chains.errors import IngestionError
from chains.ingestion.source import SourceText, title_of, unreadable

# Beside mammoth's own: the document's title as a heading, and no pictures, which would be text of a megabyte.
STYLES = "p[style-name='Title'] => h1:fresh"
UNPACKED_BYTES = 300 * 2**20
PROPERTIES = "docProps/core.xml"


def load_docx(path: Path) -> SourceText:
    """Read a Word document; its title is that of its properties, or its first heading, or the file's name.

    Raises:
        IngestionError: it is no Word document, is damaged or protected, or has no text.
    """
    try:
        properties = _properties(path)
        with path.open("rb") as file:
            html = mammoth.convert_to_html(file, style_map=STYLES, convert_image=lambda image: []).value
    except OSError as error:
        raise unreadable(error) from error
    except IngestionError:
        raise
    except Exception as error:  # A damaged file makes mammoth fail in every way that Python knows.
        msg = f"the document cannot be read ({type(error).__name__}): it is damaged, protected, or no .docx"
        raise IngestionError(msg) from error
    page = BeautifulSoup(html, PARSER)
    heading = page.select_one("h1")
    title = properties.get("title") or (" ".join(heading.get_text(" ").split()) if heading else "") or title_of(path)
    metadata = {"title": title, "last_updated": properties.get("modified", "")[:10]}
    return SourceText(markdown_of(page), 0, {name: value for name, value in metadata.items() if value})


def _properties(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > UNPACKED_BYTES:
            msg = f"the document unpacks to more than {UNPACKED_BYTES // 2**20} MB"
            raise IngestionError(msg)
        if PROPERTIES not in archive.namelist():
            return {}
        properties = BeautifulSoup(archive.read(PROPERTIES), "lxml-xml")
    return {entry.name: " ".join(entry.get_text().split()) for entry in properties.find_all(["title", "modified"])}
