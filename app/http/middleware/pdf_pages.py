"""Know the requests for pages of PDF files: they ask no question, and yet may take seconds of the processor."""

import re

from starlette.types import Scope

_PATH = re.compile(r"/documents/[^/]+/pages/[^/]+")


def is_pdf_page(scope: Scope) -> bool:
    """Return whether a request is for a page of a PDF file: its picture, or the places of words on it."""
    return scope["type"] == "http" and scope["method"] == "GET" and _PATH.fullmatch(scope["path"]) is not None
