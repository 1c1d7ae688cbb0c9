"""A small desk's documents, public and internal, in each kind of store, with the index of their words."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from langchain_classic.retrievers.document_compressors import CrossEncoderReranker
from langchain_classic.retrievers.document_compressors.cross_encoder import BaseCrossEncoder
from langchain_core.documents import Document

from app.adapters.chroma import ChromaFolder
from app.ledger import open_database
from app.ledger.index import PassageIndex
from app.ledger.passages import Passages
from tests.fakes import WordEmbeddings
from tests.indexes import index_in, put
from tests.postgres import database_for

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

    index: PassageIndex
    store: Passages
    words: Passages


def document(name: str) -> Document:
    text, audience, category, jurisdiction = TEXTS[name]
    labels = {"audience": audience, "category": category, "jurisdiction": jurisdiction}
    place = {"doc_id": name, "title": name, "chunk_index": 0, "section": "S", "start_char": 10, "end_char": 99}
    return Document(id=name, page_content=text, metadata=place | labels)


KINDS = ["chroma", "memory", pytest.param("postgres", marks=pytest.mark.service)]


@contextmanager
def open_desk(request: pytest.FixtureRequest, folder: Path) -> Iterator[Desk]:
    with database_for(request, wanted=request.param == "postgres") as url:
        yield make_desk(request.param, url, folder)


def make_desk(kind: str, url: str | None, folder: Path) -> Desk:
    follower = partial(ChromaFolder, folder / "store", "desk") if kind == "chroma" else lambda: None
    index = index_in(open_database(folder / "kb.sqlite3", url, collection="kb"), follower=follower)
    index.vectors.serves = True
    put(index, {name: document(name) for name in TEXTS})
    passages = index.open()
    return Desk(index, passages, passages)


@pytest.fixture(scope="package", params=KINDS)
def desk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One that no test changes."""
    with open_desk(request, tmp_path_factory.mktemp("desk")) as desk:
        yield desk


@pytest.fixture(params=KINDS)
def fresh_desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    with open_desk(request, tmp_path) as desk:
        yield desk


class Overlap(BaseCrossEncoder):
    """Scores a pair by the words that its texts share."""

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        shared = [[*map(WordEmbeddings().embed_query, pair)] for pair in text_pairs]
        return [sum(a * b for a, b in zip(*pair, strict=True)) for pair in shared]


def cross_encoder(top_n: int) -> CrossEncoderReranker:
    return CrossEncoderReranker(model=Overlap(), top_n=top_n)
