"""Read presentations (.pptx) by python-pptx: a page for each slide, its title as section."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pptx import Presentation

from app.adapters.documents.rows import one_line, rows_text
from app.wings.office.office import office_properties, open_archive
from chains.errors import IngestionError
from chains.ingestion.source import MAX_NAME, Page, SourceText, storable, title_of
from chains.regular_files import open_file

SLIDE_BREAK = "\n\f\n"
MEDIA = ("ppt/media/", "ppt/embeddings/", "ppt/fonts/")
# What programs write where the author gave no title.
NO_TITLES = {"powerpoint presentation", "presentation"}
MAX_DEPTH = 50


def load_pptx(path: Path) -> SourceText:
    """Read the slides of a presentation with their tables and notes; hidden slides are left out, with a warning.

    Raises:
        IngestionError: it cannot be opened, unpacks to too much, or has no text. Other errors mean damage.
    """
    with open_file(path) as file:
        with open_archive(file, besides=MEDIA) as archive:
            properties = office_properties(archive)
        show = Presentation(file)
    slides = list(show.slides)
    hidden = {number for number, slide in enumerate(slides, start=1) if slide.element.get("show") in {"0", "false"}}
    texts = ["" if number in hidden else _text(slide) for number, slide in enumerate(slides, start=1)]
    if not any(texts):
        msg = f"none of its {len(texts)} slides has text to index"
        raise IngestionError(msg)
    titles = [_title(slide) for slide in slides]
    warnings = [
        f"slide {number} is hidden, and is not read" if number in hidden else f"slide {number} has no text"
        for number, text in enumerate(texts, start=1)
        if not text
    ]
    pages = tuple(_pages(texts, titles))
    if properties.get("title", "").lower() in NO_TITLES:
        del properties["title"]
    metadata = {"title": next(filter(None, titles), "") or title_of(path)} | properties
    return SourceText(SLIDE_BREAK.join(texts), 0, metadata, pages=pages, warnings=tuple(warnings))


def _pages(texts: Iterable[str], titles: Iterable[str]) -> Iterator[Page]:
    place = 0
    for number, (text, title) in enumerate(zip(texts, titles, strict=True), start=1):
        if text:
            yield Page(number, place, place + len(text), title)
        place += len(text) + len(SLIDE_BREAK)


def _text(slide: Any) -> str:
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    parts = [*_parts(slide.shapes), f"Notes: {notes.text}" if notes is not None and notes.text.strip() else ""]
    return "\n\n".join(filter(None, (storable(part).replace("\v", "\n").strip() for part in parts)))


def _parts(shapes: Iterable[Any], depth: int = 0) -> Iterator[str]:
    """Yield the text of each shape, those of a group in its place."""
    for shape in shapes:
        if hasattr(shape, "shapes") and depth < MAX_DEPTH:
            yield from _parts(shape.shapes, depth + 1)
        elif shape.has_text_frame:
            yield shape.text_frame.text
        elif getattr(shape, "has_table", False):
            yield rows_text([cell.text for cell in row.cells] for row in shape.table.rows)


def _title(slide: Any) -> str:
    shape = slide.shapes.title
    return one_line(shape.text_frame.text)[:MAX_NAME] if shape is not None else ""
