"""Files that are no plain text -> their text and metadata: a loader for each format."""

from app.adapters.documents.docx import load_docx
from app.adapters.documents.html import load_html
from app.adapters.documents.pdf import load_pdf

__all__ = ["LOADERS", "load_docx", "load_html", "load_pdf"]

LOADERS = {
    ".docx": load_docx,
    ".htm": load_html,
    ".html": load_html,
    ".pdf": load_pdf,
    ".xhtml": load_html,
}
