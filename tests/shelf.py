"""A corpus folder and an index of it, on real stores, for tests of ingestion."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from app.adapters.documents.process import IsolatedParser
from app.ledger import open_database
from app.ledger.index import PassageIndex
from chains.ingestion.chunks import Chunker
from chains.ingestion.engine import PlainEngine, Reading, Suspicious
from chains.ingestion.index import Report, ingest
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
    """A corpus folder and an index of it, in a real ledger."""

    def __init__(self, folder: Path) -> None:
        self.corpus = folder / "corpus"
        self.embeddings = WordEmbeddings()
        database = open_database(folder / "shelf.sqlite3", collection="kb")
        self.index = PassageIndex(database, self.embeddings, "words", lambda: None)
        self.store = self.index
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
            report, change = ingest(list(paths) or [self.corpus], into=self.index, engine=engine, **options)
        if not options.get("dry_run"):
            self.index.publish(change)
        return report

    def metadata(self) -> list[dict]:
        rows = [
            {**json.loads(meta), "text": text}
            for meta, text in self.index.database.rows("SELECT meta, content FROM passages")
        ]
        return sorted(rows, key=lambda row: (row["doc_id"], row["chunk_index"]))
