"""Stage 4. The answer and the passages shown -> citations, sources, related documents and the outcome."""

from chains.citations.cite import CiteSources
from chains.citations.sources import citation_metadata, format_citations_markdown

__all__ = ["CiteSources", "citation_metadata", "format_citations_markdown"]
