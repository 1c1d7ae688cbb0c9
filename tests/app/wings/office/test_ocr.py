"""Scanned pages: pictures of text without any letters, read by tesseract where it is installed."""

import asyncio
import io
import shutil

import pypdfium2
import pytest
from fpdf import FPDF
from PIL import Image

from app.adapters.documents import process
from app.adapters.documents.pages import IndexedPage, PdfPages
from app.adapters.documents.process import IsolatedParser
from benchmarks.documents import laid_out_pdf
from chains.ingestion.chunks import Chunker

WORDS = "The deposit is refunded within fourteen days of the return."


@pytest.fixture
def scan(tmp_path):
    """A PDF whose first page is a picture of words, and whose second has words."""
    with pypdfium2.PdfDocument(laid_out_pdf([WORDS])) as printed:
        picture = printed[0].render(scale=200 / 72).to_pil()
    document = FPDF()
    document.add_page()
    document.image(_png(picture), x=0, y=0, w=document.w)
    document.add_page()
    document.set_font("Times", "", 12)
    document.cell(text="The second page is text.")
    file = tmp_path / "scan.pdf"
    document.output(str(file))
    return file


def _png(picture: Image.Image) -> io.BytesIO:
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file


@pytest.fixture
def tesseract(request):
    program = shutil.which("tesseract")
    if program is None:
        pytest.skip("tesseract is not installed")
    return program


def parser(**options) -> IsolatedParser:
    return IsolatedParser(Chunker(), 60, 1024, **options)


@pytest.mark.service
def test_a_scanned_page_is_read_and_said_to_be_a_picture(scan, tesseract):
    reader = parser(tesseract=tesseract)
    try:
        parsed = reader.parse(scan)
    finally:
        reader.close()

    assert [(chunk.page, chunk.text) for chunk in parsed.chunks] == [(1, WORDS), (2, "The second page is text.")]
    assert parsed.warnings == ("page 1 is a picture; its words were recognized and may be wrong",)


@pytest.mark.service
@pytest.mark.parametrize(
    ("times", "languages", "reason"), [(0, "eng", "is over; split it"), (3, "none", "is its language 'none' installed")]
)
def test_a_scanned_page_that_cannot_be_read_is_named_with_the_reason(
    monkeypatch, scan, tesseract, times, languages, reason
):
    monkeypatch.setattr(process, "RECOGNITION_TIMES", times)
    reader = parser(tesseract=tesseract, languages=languages)
    try:
        parsed = reader.parse(scan)
    finally:
        reader.close()

    assert [chunk.page for chunk in parsed.chunks] == [2]
    assert reason in parsed.warnings[0]


def test_the_picture_of_a_scanned_page_is_shown_beside_its_recognized_words(scan):
    pages = PdfPages(10, 1024)
    try:
        assert asyncio.run(pages.picture(IndexedPage(scan, 1, [WORDS]), 200)) is not None
        assert asyncio.run(pages.picture(IndexedPage(scan, 2, [WORDS]), 200)) is None
    finally:
        pages.close()
