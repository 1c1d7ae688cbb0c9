"""The steps that bring the tables of an earlier version to the next one, the first those of version 1, of 0.3.0.

They run within the transaction of `migrate`.
"""

from langchain_core.documents import Document

from app.ledger.database import Database
from app.ledger.schema import BESIDE, BLOCK, metadata
from app.ledger.vectors import index_vectors
from app.ledger.words import Searched, add_words, metadata_of
from chains.ingestion.index import indexed_fields

FORMER = ("public_words_terms", "words_terms", "public_words", "words", "postings", "terms")
PASSAGES = "SELECT row, audience, content, meta FROM passages WHERE row >= :first AND row < :end ORDER BY row"


def count_words_and_split_vectors(database: Database) -> None:
    """Count the words of all passages anew: each dialect kept them in a form of its own, and PostgreSQL the vectors."""
    for table in FORMER:
        database.run(f"DROP TABLE IF EXISTS {table}")
    with database.changing() as connection:
        metadata.create_all(connection, [metadata.tables[name] for name in ("words", "postings")], checkfirst=False)
    for first in range(0, 1 + (database.value("SELECT max(row) FROM passages") or 0), BLOCK):
        words = [
            Searched(row, audience == "public", *indexed_fields(Document(content, metadata=metadata_of(meta))))
            for row, audience, content, meta in database.rows(PASSAGES, first=first, end=first + BLOCK)
        ]
        add_words(database, words)
    if database.dialect == "postgresql":
        database.run(BESIDE)
        if stated := database.fact("dimensions"):
            index_vectors(database, int(stated))


STEPS = (count_words_and_split_vectors,)
