"""Files that are no plain text -> their text and metadata: a loader for each format."""

from app.adapters.formats.docx import load_docx
from app.adapters.formats.html import load_html
from app.adapters.formats.pdf import load_pdf

__all__ = ["LOADERS", "load_docx", "load_html", "load_pdf"]

LOADERS = {
    ".docx": load_docx,
    ".htm": load_html,
    ".html": load_html,
    ".pdf": load_pdf,
    ".xhtml": load_html,
}
