"""An index in a ledger, for tests: passages are put into it under names, without files."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.documents import Document

from app.ledger import open_database
from app.ledger.database import Database
from app.ledger.index import PassageIndex, Row
from app.ledger.passages import Passages
from app.ledger.vectors import VectorIndex
from chains.ingestion.index import Change
from tests.fakes import WordEmbeddings


def index_in(
    database: Database,
    *,
    model: str = "words",
    dimensions: int = 256,
    follower: Callable[[], VectorIndex | None] = lambda: None,
) -> PassageIndex:
    return PassageIndex(database, WordEmbeddings(dimensions), model, follower)


def put(index: PassageIndex, chunks: Mapping[str, Document], *, stale: Sequence[str] = (), reset: bool = False) -> None:
    """Add passages, in place of those with their ids, and delete stale ones."""
    vectors = index.embeddings.embed_documents([chunk.page_content for chunk in chunks.values()])
    rows = [
        Row(id_, chunk, np.array(vector, dtype=np.float32))
        for (id_, chunk), vector in zip(chunks.items(), vectors, strict=True)
    ]
    with index.locked():
        index.publish(Change(reset=reset, stale={*stale, *chunks}), rows)


class Shelves:
    """An index that is opened anew for every question."""

    def __init__(self, database: Database) -> None:
        self.index = index_in(database)

    def add(self, ids: Sequence[str], chunks: Sequence[Document]) -> None:
        put(self.index, dict(zip(ids, chunks, strict=True)))

    def delete(self, ids: Sequence[str]) -> None:
        put(self.index, {}, stale=ids)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.index.open(), name)


def shelves(folder: Path) -> Shelves:
    return Shelves(open_database(folder / "shelves.sqlite3", collection="kb"))


def opened(database: Database) -> Passages:
    return index_in(database).open()


# The words of passages in version 1.
EARLIER = {
    "sqlite": """
        CREATE VIRTUAL TABLE words USING fts5(title, section, text, tokenize = 'porter unicode61');
        CREATE VIRTUAL TABLE public_words USING
            fts5(title, section, text, content = words, tokenize = 'porter unicode61');
        CREATE VIRTUAL TABLE words_terms USING fts5vocab(words, 'row');
        CREATE VIRTUAL TABLE public_words_terms USING fts5vocab(public_words, 'row');
        INSERT INTO words (rowid, title, section, text) VALUES (1, '', '', 'crates')
    """,
    "postgresql": """
        CREATE TABLE words (rowid bigint PRIMARY KEY, text text NOT NULL, terms integer[] NOT NULL,
            tokens integer NOT NULL);
        CREATE TABLE terms (term text COLLATE "C" PRIMARY KEY, number integer GENERATED ALWAYS AS IDENTITY UNIQUE,
            passages integer NOT NULL, public_passages integer NOT NULL);
        CREATE TABLE postings (term integer, passage bigint, count smallint NOT NULL, tokens smallint NOT NULL,
            PRIMARY KEY (term, passage) INCLUDE (count, tokens));
        INSERT INTO words VALUES (1, 'crates', '{1}', 1)
    """,
}


def put_words_back(database: Database) -> None:
    """Make the tables of words as version 1 had them."""
    for statement in ("DROP TABLE words", "DROP TABLE postings", *EARLIER[database.dialect].split(";")):
        database.run(statement)
    database.state("schema", "1")
    database.close()
