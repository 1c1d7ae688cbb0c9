"""Read Word documents (.docx) as markdown, by mammoth: headings, lists and tables stay."""

import zipfile
from pathlib import Path
from typing import IO

import mammoth
from bs4 import BeautifulSoup

from app.adapters.documents.html import PARSER, markdown_of, words_of
from chains.errors import IngestionError
from chains.ingestion.source import SourceText, open_file, title_of

# Beside mammoth's own: the document's title as a heading, and no pictures, which would be text of a megabyte.
STYLES = "p[style-name='Title'] => h1:fresh"
UNPACKED_BYTES = 32 * 2**20  # Of XML; pictures and fonts are not unpacked.
MEDIA = ("word/media/", "word/embeddings/", "word/fonts/")
PROPERTIES = "docProps/core.xml"


def load_docx(path: Path) -> SourceText:
    """Read a Word document; its title is that of its properties, or its first heading, or the file's name.

    Raises:
        IngestionError: the file cannot be opened, unpacks to too much, or has no text. Other errors mean damage.
    """
    with open_file(path) as file:
        properties = _properties(file)
        html = mammoth.convert_to_html(file, style_map=STYLES, convert_image=lambda image: []).value
    page = BeautifulSoup(html, PARSER)
    title = properties.get("title") or words_of(page.select_one("h1")) or title_of(path)
    metadata = {"title": title, "last_updated": properties.get("modified", "")[:10]}
    return SourceText(markdown_of(page), 0, {name: value for name, value in metadata.items() if value})


def _properties(file: IO[bytes]) -> dict[str, str]:
    with zipfile.ZipFile(file) as archive:
        if (
            sum(entry.file_size for entry in archive.infolist() if not entry.filename.startswith(MEDIA))
            > UNPACKED_BYTES
        ):
            msg = f"the document unpacks to more than {UNPACKED_BYTES // 2**20} MB; split it"
            raise IngestionError(msg)
        if PROPERTIES not in archive.namelist():
            return {}
        properties = BeautifulSoup(archive.read(PROPERTIES), "lxml-xml")
    return {entry.name: " ".join(entry.get_text().split()) for entry in properties.find_all(["title", "modified"])}
