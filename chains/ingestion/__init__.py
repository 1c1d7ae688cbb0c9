"""The other chain: files -> sections -> chunks -> vector store."""

from chains.ingestion.files import Problem
from chains.ingestion.index import Report, ingest
from chains.ingestion.writing import Index

__all__ = ["Index", "Problem", "Report", "ingest"]
