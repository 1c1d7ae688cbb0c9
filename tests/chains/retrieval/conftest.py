"""A small desk's documents, public and internal, in each kind of store, with the index of their words."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langchain_classic.retrievers.document_compressors import CrossEncoderReranker
from langchain_classic.retrievers.document_compressors.cross_encoder import BaseCrossEncoder
from langchain_core.documents import Document

from app.adapters.stores.chroma import DocumentChroma, open_chroma
from app.adapters.stores.fts import LexicalIndex
from app.adapters.stores.index import Recipe
from app.adapters.stores.memory import SavedMemoryStore
from app.wings.postgres.database import Database
from app.wings.postgres.index import PostgresIndex
from app.wings.postgres.store import PostgresStore
from chains.ports import WordIndex
from tests.fakes import WordEmbeddings

TEXTS = {
    "gst": ("The rate of GST is nine percent.", "public", "regulatory", "SG"),
    "relief": ("Relief from GST on small parcels up to S$400.", "public", "regulatory", "SG"),
    "vat": ("The rate of VAT is eleven percent.", "public", "regulatory", "ID"),
    "sailing": ("The line sails to Surabaya weekly.", "public", "carrier", "Global"),
    "margin": ("The margin on the rate of GST work is nine dollars.", "internal", "internal", "SG"),
    "discount": ("A discount on the rate is approved by the desk.", "internal", "internal", "SG"),
}


@dataclass
class Desk:
    """A store with the documents, and the index of their words."""

    store: DocumentChroma | SavedMemoryStore | PostgresStore
    words: WordIndex


def document(name: str) -> Document:
    text, audience, category, jurisdiction = TEXTS[name]
    labels = {"audience": audience, "category": category, "jurisdiction": jurisdiction}
    place = {"doc_id": name, "title": name, "chunk_index": 0, "section": "S", "start_char": 10, "end_char": 99}
    return Document(id=name, page_content=text, metadata=place | labels)


@pytest.fixture(params=["chroma", "memory", pytest.param("postgres", marks=pytest.mark.service)])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Desk:
    if request.param == "postgres":
        return in_postgres(request.getfixturevalue("database_url"), request.getfixturevalue("collection"))
    words = LexicalIndex(tmp_path / "words.sqlite3", fields=lambda chunk: ("", "", chunk.page_content))
    options: dict[str, Any] = {
        "embedding_model": "words",
        "indexed_text": lambda chunk: chunk.page_content,
        "words": words,
    }
    store: DocumentChroma | SavedMemoryStore
    if request.param == "chroma":
        store = open_chroma(tmp_path / "store", "desk", WordEmbeddings(), **options)
    else:
        store = SavedMemoryStore(tmp_path / "store.json", WordEmbeddings(), **options)
    store.add_documents([document(name) for name in TEXTS], ids=list(TEXTS))
    return Desk(store, words)


def in_postgres(url: str, collection: str) -> Desk:
    recipe = Recipe(
        WordEmbeddings(), "words", lambda chunk: chunk.page_content, lambda chunk: ("", "", chunk.page_content)
    )
    index = PostgresIndex(Database(url, pool_size=5, timeout_s=30), collection, recipe)
    index.open().store.add_documents([document(name) for name in TEXTS], ids=list(TEXTS))
    opened = index.open()
    return Desk(opened.store, opened.words)


class Overlap(BaseCrossEncoder):
    """Scores a pair by the words that its texts share."""

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        shared = [[*map(WordEmbeddings().embed_query, pair)] for pair in text_pairs]
        return [sum(a * b for a, b in zip(*pair, strict=True)) for pair in shared]


def cross_encoder(top_n: int) -> CrossEncoderReranker:
    return CrossEncoderReranker(model=Overlap(), top_n=top_n)
