"""A corpus folder and an index of it, on real stores, for tests of ingestion."""

from contextlib import closing
from pathlib import Path
from typing import Any

from app.adapters.documents.isolation import IsolatedParser
from app.adapters.stores.chroma import open_chroma
from app.adapters.stores.folder import open_records
from chains.ingestion.chunks import Chunker
from chains.ingestion.engine import PlainEngine, Reading, Suspicious
from chains.ingestion.index import Report, indexed_text, ingest
from chains.ingestion.writing import Index
from tests.fakes import WordEmbeddings

DOCUMENT = """---
title: "Guide: GST"
source_organization: Customs
source_urls:
  - https://example.org/a,b
  - url: https://example.org/c_(d)
    description: second
source_type: public_regulatory
last_updated: 2026-01-31
jurisdiction: SG
retrieval_keywords: [GST, tax]
---

# Guide: GST

Words before the first section.

## Rate

The rate is nine percent.

### Exceptions

| Goods | Rate |
|---|---|
| Gold | nil |
"""


class Shelf:
    """A corpus folder and an index of it, on the real Chroma and the real record manager."""

    def __init__(self, folder: Path) -> None:
        self.corpus = folder / "corpus"
        self.embeddings = WordEmbeddings()
        self.store = open_chroma(
            folder / "store", "shelf", self.embeddings, embedding_model="words", indexed_text=indexed_text
        )
        records = folder / "store"
        self.index = Index(
            self.store,
            open_records(records, "shelf"),
            open_records(records, "shelf/sources"),
            self.store.ids,
        )
        self.write("01_regulatory/gst.md", DOCUMENT)

    def write(self, name: str, text: str) -> Path:
        path = self.corpus / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def ingest(
        self,
        *paths: Path,
        timeout_s: float = 60,
        memory_mb: int = 1024,
        suspicious: Suspicious | None = None,
        **options: Any,
    ) -> Report:
        reading = Reading(IsolatedParser(Chunker(), timeout_s, memory_mb), suspicious)
        with closing(PlainEngine(reading, self.embeddings)) as engine:
            return ingest(list(paths) or [self.corpus], into=self.index, engine=engine, **options)

    def metadata(self) -> list[dict]:
        found = self.store.get(include=["metadatas", "documents"])
        rows = [
            {**metadata, "text": text} for metadata, text in zip(found["metadatas"], found["documents"], strict=True)
        ]
        return sorted(rows, key=lambda row: (row["doc_id"], row["chunk_index"]))
