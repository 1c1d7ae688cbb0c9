"""Read presentations (.pptx) by python-pptx: a page for each slide, its title as section."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pptx import Presentation

from app.wings.office.office import office_properties, open_archive
from chains.errors import IngestionError
from chains.ingestion.source import MAX_NAME, PAGE_BREAK, SourceText, left_out, placed_pages, storable, title_of
from chains.ingestion.tables import Cell, grid_of, markdown_tables, one_line, table_text, values_grid
from chains.regular_files import open_file

MEDIA = ("ppt/media/", "ppt/embeddings/", "ppt/fonts/")
MAX_DEPTH = 50
DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


def load_pptx(path: Path) -> SourceText:
    """Read the slides of a presentation with their tables and notes; hidden slides are left out, with a warning."""
    with open_file(path) as file:
        with open_archive(file, besides=MEDIA) as archive:
            properties = office_properties(archive)
        show = Presentation(file)
    slides = list(show.slides)
    hidden = {number for number, slide in enumerate(slides, start=1) if slide.element.get("show") in {"0", "false"}}
    struck = []
    for run in (run for slide in slides for run in slide.element.iter(f"{DRAWING}r")):
        shape, words = run.find(f"{DRAWING}rPr"), run.find(f"{DRAWING}t")
        if shape is not None and words is not None and shape.get("strike", "noStrike") != "noStrike":
            struck.append(one_line(words.text))
            words.text = ""
    texts = ["" if number in hidden else _text(slide) for number, slide in enumerate(slides, start=1)]
    if not any(texts):
        raise IngestionError(f"none of its {len(texts)} slides has text to index")
    names = (slide.shapes.title for slide in slides)
    titles = [one_line(name.text_frame.text)[:MAX_NAME] if name is not None else "" for name in names]
    warnings = [
        f"slide {number} is hidden, and is not read" if number in hidden else f"slide {number} has no text"
        for number, text in enumerate(texts, start=1)
        if not text
    ]
    pages = tuple(page for page in placed_pages(texts, titles) if page.end > page.start)
    metadata = {"title": next(filter(None, titles), "") or title_of(path)} | properties
    text = PAGE_BREAK.join(texts)
    tables = tuple(markdown_tables(text))
    return SourceText(
        text, 0, metadata, pages=pages, tables=tables, warnings=(*warnings, *left_out(struck, "struck out"))
    )


def _text(slide: Any) -> str:
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    parts = [*_parts(slide.shapes), f"Notes: {notes.text}" if notes is not None and notes.text.strip() else ""]
    return "\n\n".join(filter(None, (storable(part).replace("\v", "\n").strip() for part in parts)))


def _parts(shapes: Iterable[Any], depth: int = 0) -> Iterator[str]:
    for shape in shapes:
        if hasattr(shape, "shapes") and depth < MAX_DEPTH:
            yield from _parts(shape.shapes, depth + 1)
        elif shape.has_text_frame:
            yield shape.text_frame.text
        elif getattr(shape, "has_table", False):
            grid = []
            for number, row in enumerate(shape.table.rows):
                head, cells = shape.table.first_row and number == 0, (cell for cell in row.cells if not cell.is_spanned)
                grid.append([Cell(cell.text, cell.span_height, cell.span_width, head) for cell in cells])
            yield table_text(grid_of(grid))
        elif getattr(shape, "has_chart", False):
            yield _chart(shape.chart)


def _chart(chart: Any) -> str:
    title = one_line(chart.chart_title.text_frame.text) if chart.has_title and chart.chart_title.has_text_frame else ""
    tables = []
    for plot in chart.plots:
        series = list(plot.series)
        names = list(plot.categories) or range(1, max((len(line.values) for line in series), default=0) + 1)
        rows = [["", *(line.name for line in series)]]
        for number, name in enumerate(names):
            values = (line.values[number] if number < len(line.values) else None for line in series)
            rows.append([name, *("" if value is None else f"{value:.15g}" for value in values)])
        tables.append(table_text(values_grid(rows)))
    return "\n\n".join(filter(None, [title, *tables]))
