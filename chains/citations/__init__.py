"""Stage 4: find and verify the citations of an answer, and decide its outcome."""

from chains.citations.cite import CiteSources
from chains.citations.sources import format_citations_markdown

__all__ = ["CiteSources", "format_citations_markdown"]
