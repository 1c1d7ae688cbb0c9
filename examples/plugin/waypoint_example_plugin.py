"""A reader of .rst files, and the strategy RETRIEVER_TYPE=newest: what is found, the newest documents first."""

from pathlib import Path
from typing import Any

from langchain_core.documents import Document
from waypoint import HybridRetriever, Settings, SourceText


def read_rst(path: Path) -> SourceText:
    """Read the file as plain text under its name."""
    return SourceText(path.read_text(encoding="utf-8"), 0, {"title": path.stem}, plain=True)


class NewestRetriever(HybridRetriever):
    """Finds as `hybrid` does, and puts the newest documents first."""

    def find(self, query: str, **options: Any) -> list[Document]:
        """Return the chunks; `options` carry the filters that keep internal passages from strangers."""
        return sorted(
            super().find(query, **options), key=lambda chunk: chunk.metadata.get("last_updated", ""), reverse=True
        )


def newest(settings: Settings, store: Any, words: Any, _model: Any) -> NewestRetriever:
    """Return the strategy over the index."""
    limits = {"top_k": settings.retrieval.top_k, "threshold": settings.retrieval.threshold}
    return NewestRetriever(store=store, words=words, link_hosts=settings.link_hosts, **limits)
