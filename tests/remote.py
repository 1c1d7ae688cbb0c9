"""A service over a small index for tests of sources elsewhere, and what they look at in it."""

from pathlib import Path
from typing import Any

from app.wiring import Parts, Service, open_service
from chains.ingestion.index import Report
from tests.access import settings_over
from tests.fakes import WordEmbeddings


def services_over(folder: Path, **settings: Any) -> Service:
    chosen: dict[str, Any] = {"min_chunks": 0, "web_allow_private": True}
    chosen |= {"vector_store_type": "memory", "chroma_path": folder / "store"} | settings
    return open_service(settings_over(folder, "http://127.0.0.1:1", **chosen), parts=Parts(embeddings=WordEmbeddings()))


def ids(services: Service) -> set[str]:
    return set(services.index.library.catalogue().entries)


def counts(report: Report) -> tuple[int, int, int, int]:
    return report.added, report.updated, report.unchanged, report.deleted
