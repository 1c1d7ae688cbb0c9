"""Read Word documents (.docx) as markdown, by mammoth: headings, lists and tables stay."""

from pathlib import Path

import mammoth
from bs4 import BeautifulSoup

from app.adapters.documents.html import PARSER, markdown_of, words_of
from app.wings.office.office import office_properties, open_archive
from chains.ingestion.source import SourceText, title_of
from chains.regular_files import open_file

# Beside mammoth's own: the document's title as a heading, and no pictures, which would be text of a megabyte.
STYLES = "p[style-name='Title'] => h1:fresh"
# What is not unpacked: pictures and fonts.
MEDIA = ("word/media/", "word/embeddings/", "word/fonts/")


def load_docx(path: Path) -> SourceText:
    """Read a Word document; its title is that of its properties, or its first heading, or the file's name.

    Raises:
        IngestionError: the file cannot be opened, unpacks to too much, or has no text. Other errors mean damage.
    """
    with open_file(path) as file:
        with open_archive(file, besides=MEDIA) as archive:
            properties = office_properties(archive)
        html = mammoth.convert_to_html(file, style_map=STYLES, convert_image=lambda image: []).value
    page = BeautifulSoup(html, PARSER)
    title = words_of(page.select_one("h1")) or title_of(path)
    return SourceText(markdown_of(page), 0, {"title": title} | properties)
