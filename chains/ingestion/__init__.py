"""The other chain: files -> sections -> chunks -> vector store."""

from chains.ingestion.files import Problem
from chains.ingestion.index import Index, Report, ingest

__all__ = ["Index", "Problem", "Report", "ingest"]
