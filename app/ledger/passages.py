"""The index of passages as it is read: by vectors, by words, by document; every method reads one version of it."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from app.ledger.database import Database
from app.ledger.vectors import Vectors
from app.ledger.words import Words, metadata_of
from chains.errors import ConfigurationError
from chains.ingestion.files import Source
from chains.ports import ChunkPlace

AT_ONCE = 1000  # How many passages one statement names.


class HeldDocument(NamedTuple):
    """A document's id, the number of its passages, and the ids of the first and the last one."""

    doc_id: str
    passages: int
    first: str
    last: str


DOCUMENTS = """
SELECT known.doc_id, size, first.id, last.id
FROM (SELECT doc_id, count(*) AS size, min(number) AS low, max(number) AS high FROM passages GROUP BY doc_id) AS known
JOIN passages AS first ON first.doc_id = known.doc_id AND first.number = known.low
JOIN passages AS last ON last.doc_id = known.doc_id AND last.number = known.high
"""
SECTION = """
SELECT near.id, near.content, near.meta FROM passages AS hit JOIN passages AS near
ON near.doc_id = hit.doc_id AND near.number BETWEEN hit.number - 20 AND hit.number + 20 AND near.number <> hit.number
AND near.meta ->> 'section_path' = hit.meta ->> 'section_path'
WHERE hit.doc_id = :id AND hit.number = :number ORDER BY abs(near.number - hit.number), near.number
"""
FACTS = "SELECT name, value FROM facts WHERE name IN ('version', 'dimensions')"


class Held:
    """What the ledger holds of the index, whatever its form."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def count(self) -> int:
        return int(self.database.value("SELECT count(*) FROM passages"))

    def sources(self) -> dict[Source, float]:
        """Return the sources of the documents, with the time when each was last written, in seconds since 1970."""
        rows = self.database.rows("SELECT doc_id, root, path, written FROM sources ORDER BY doc_id")
        return {Source(*source): written for *source, written in rows}

    def scopes(self) -> dict[str, str | None]:
        """Return the text of the scope file of each folder that was ingested; None where it has none."""
        return dict(json.loads(self.database.fact("scopes") or "{}"))


class Passages(Held):
    """The passages of one version of the index; None before anything was ingested.

    It is a `ChunkStore` and a `WordIndex` for the retrievers. Similarities are cosines clipped to 0-1.
    """

    def __init__(self, database: Database, embeddings: Embeddings, vectors: Vectors, version: str | None) -> None:
        super().__init__(database)
        self.version, self.embeddings, self._vectors = version, embeddings, vectors
        self._words, self._public_words = Words(database, public=False), Words(database, public=True)

    def reading(self) -> AbstractContextManager[object]:
        return self.database.reading()

    def nearest(self, vector: Sequence[float], limit: int, where: Mapping[str, str]) -> dict[str, float]:
        with self.database.reading():  # Of an index that was replaced meanwhile, the vectors of its words are asked.
            facts = dict(map(tuple, self.database.rows(FACTS)))
            if "dimensions" not in facts:
                return {}
            if int(facts["dimensions"]) != len(vector):
                msg = (
                    f"the index has vectors of {facts['dimensions']} dimensions, and the embedding model makes "
                    f"{len(vector)}; rebuild it with `waypoint ingest --reset PATH`"
                )
                raise ConfigurationError(msg)
            return self._vectors.nearest(facts["version"], vector, limit, where)

    def vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        return self._vectors.of(ids) if ids else {}

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        query = "SELECT id, content, meta FROM passages WHERE id = ANY(:ids)"
        portions = (list(ids[start : start + AT_ONCE]) for start in range(0, len(ids), AT_ONCE))
        return [_document(*row) for portion in portions for row in self.database.rows(query, ids=portion)]

    def search(self, question: str, limit: int, where: Mapping[str, str]) -> dict[str, float]:
        return self._words_for(where).search(question, limit, where)

    def corrected(self, question: str, where: Mapping[str, str], is_word: Callable[[str], bool]) -> str:
        return self._words_for(where).corrected(question, is_word)

    def named(self, question: str, where: Mapping[str, str]) -> dict[str, float]:
        return self._words_for(where).named(question)

    def places(self, ids: Sequence[str]) -> dict[str, ChunkPlace]:
        query = (
            "SELECT id, doc_id, number, passages.section, text FROM passages JOIN words ON words.row = passages.row "
            "WHERE id = ANY(:ids)"
        )
        return {id_: ChunkPlace(*place) for id_, *place in self.database.rows(query, ids=list(ids))}

    def documents(self) -> list[HeldDocument]:
        return [HeldDocument(*row) for row in self.database.rows(DOCUMENTS)]

    def chunks_of(self, document: str) -> list[str]:
        rows = self.database.rows("SELECT id FROM passages WHERE doc_id = :id ORDER BY number", id=document)
        return [id_ for (id_,) in rows]

    def document(self, document: str) -> list[Document]:
        query = "SELECT id, content, meta FROM passages WHERE doc_id = :id ORDER BY number"
        return [_document(*row) for row in self.database.rows(query, id=document)]

    def around(self, document: str, number: int) -> list[Document]:
        return [_document(*row) for row in self.database.rows(SECTION, id=document, number=number)]

    def searched_by(self) -> str:
        return self._vectors.searched_by(self.version or "", int(self.database.fact("dimensions") or 1))

    def _words_for(self, where: Mapping[str, str]) -> Words:
        return self._public_words if where.get("audience") == "public" else self._words


def _document(id_: str, content: str, meta: Any) -> Document:
    return Document(id=id_, page_content=content, metadata=metadata_of(meta))
