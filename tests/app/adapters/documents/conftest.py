"""A page of a PDF that a test draws, and what is read of it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fpdf import FPDF

from app.adapters.documents.pdf import load_pdf
from chains.ingestion.source import SourceText


@pytest.fixture
def page() -> FPDF:
    document = FPDF(unit="pt")
    document.add_page()
    document.set_font("Helvetica", "", 11)
    return document


@pytest.fixture
def read(page: FPDF, tmp_path: Path) -> Callable[..., SourceText]:
    """Save the page as `pier.pdf`, and read it."""

    def read(name: str = "pier.pdf", **options) -> SourceText:
        page.output(str(tmp_path / name))
        return load_pdf(tmp_path / name, **options)

    return read
