"""Recognise requests for PDF pages: they ask no question, but may take seconds of CPU time."""

import re

from starlette.types import Scope

_PATH = re.compile(r"/documents/[^/]+/pages/[^/]+")


def is_pdf_page(scope: Scope) -> bool:
    """Return whether a request is for a page of a PDF file: its picture, or the places of words on it."""
    return scope["type"] == "http" and scope["method"] == "GET" and _PATH.fullmatch(scope["path"]) is not None
