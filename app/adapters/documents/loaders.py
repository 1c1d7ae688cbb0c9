"""A loader for the ending of every format but plain text."""

from app.adapters.documents.docx import load_docx
from app.adapters.documents.html import load_html
from app.adapters.documents.pdf import load_pdf

LOADERS = {
    ".docx": load_docx,
    ".htm": load_html,
    ".html": load_html,
    ".pdf": load_pdf,
    ".xhtml": load_html,
}
