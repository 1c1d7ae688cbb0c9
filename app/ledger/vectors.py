"""The vectors of passages and their neighbours: compared one by one, in pgvector, or by an index that follows."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from app.ledger.database import Database
from app.ledger.words import MOST_REMEMBERED, condition
from chains.documents.audience import FILTERS
from chains.errors import ConfigurationError
from chains.logs import get_logger

log = get_logger(__name__)

# So many are compared one by one in some milliseconds: a command that answers one question needs no other index.
FEW = 20_000
AT_ONCE = 2000


class Entry(NamedTuple):
    """A passage's id, its vector, and the values that a search may ask for."""

    id: str
    vector: NDArray[np.float32]
    where: Mapping[str, str]


Read = Callable[[Sequence[str]], Iterable[Entry]]
Hits = dict[str, float]


class VectorIndex(Protocol):
    """A second index of the ledger's vectors, which follows it: what it lacks is put in from the ledger's rows.

    Whatever a method raises, questions are answered by the ledger's own vectors, and it is filled again later.
    """

    @property
    def place(self) -> str:
        """Return where it is, for messages: `chroma in storage/chroma`."""

    def nearest(self, version: str, vector: Sequence[float], limit: int, where: Mapping[str, str]) -> Hits | None:
        """Return the similarities of the nearest passages by id, the nearest first; None if it has another version."""

    def fill(self, version: str, ids: Sequence[str], read: Read) -> None:
        """Bring it to this version: delete what is not among the ids, and add what it lacks, in portions."""

    def close(self) -> None: ...


class Vectors:
    """Searches the ledger's vectors; `follower` is asked where this process serves, or where there are many.

    `serves` says whether it answers many questions, so that the follower is worth opening and filling.
    """

    def __init__(self, database: Database, follower: Callable[[], VectorIndex | None]) -> None:
        self._database, self._make_follower = database, follower
        self._in_postgres = database.dialect == "postgresql"
        self.serves = False
        self._matrix: tuple[str, _Matrix] | None = None
        self._counted: tuple[str, int] | None = None  # A version, and the number of its passages.
        self._few: dict[tuple[Any, ...], bool] = {}
        self._filling = threading.Lock()
        self._thread: threading.Thread | None = None
        self._failed: tuple[str, str] | None = None  # A version, and why the follower could not be filled with it.

    @cached_property
    def follower(self) -> VectorIndex | None:
        """Return the second index; its package is imported when it is first asked, one question does without."""
        return None if self._in_postgres else self._make_follower()

    def nearest(self, version: str, vector: Sequence[float], limit: int, where: Mapping[str, str]) -> Hits:
        if self._in_postgres:
            return self._by_pgvector(version, vector, limit, where)
        if (follower := self._following(version)) is not None:
            try:
                hits = follower.nearest(version, vector, limit, where)
            except Exception as error:  # Whatever it raises, down to what comes from Rust.
                self._warn(version, error)
                hits = None
            if hits is not None:
                self._matrix = None
                return hits
            if self.serves:
                self._fill_beside(version)
        current = self._matrix
        if current is None or current[0] != version:
            query = f"SELECT id, vector, {', '.join(FILTERS)} FROM passages ORDER BY row"
            self._matrix = current = version, _Matrix(self._database.rows(query))
        return current[1].nearest(vector, limit, where)

    def of(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        sent, read = ("vector_send(vector)", from_wire) if self._in_postgres else ("vector", to_vector)
        rows = self._database.rows(f"SELECT id, {sent} FROM passages WHERE id = ANY(:ids)", ids=list(ids))
        return {id_: read(vector) for id_, vector in rows}

    def fill(self, version: str) -> bool:
        """Bring the follower to this version; return False where another process does so."""
        if self.follower is None:
            return True
        with self._database.lock("vectors") as ours:
            if ours:
                ids = [id_ for (id_,) in self._database.rows("SELECT id FROM passages ORDER BY row")]
                self.follower.fill(version, ids, self._entries)
            return ours

    def searched_by(self, version: str, dimensions: int) -> str:
        """Return in words what searches this version, for `doctor` and readiness."""
        if self._in_postgres:
            return "pgvector"
        if (follower := self._following(version)) is None:
            return "exact search"
        try:
            if follower.nearest(version, [1.0] + [0.0] * (dimensions - 1), 1, {}) is not None:
                return follower.place.partition(" ")[0]
        except Exception as error:
            return f"exact search: {follower.place} fails ({type(error).__name__})"
        reason = f" failed: {self._failed[1]}" if self._failed and self._failed[0] == version else " is not filled yet"
        return f"exact search: {follower.place}{reason}"

    def close(self) -> None:
        """Wait for what is being filled, and close the follower."""
        if thread := self._thread:
            thread.join()
        if (follower := self.__dict__.get("follower")) is not None:
            follower.close()

    def _following(self, version: str) -> VectorIndex | None:
        if self.serves:
            return self.follower
        counted = self._counted
        if counted is None or counted[0] != version:
            self._counted = counted = version, self._database.value("SELECT count(*) FROM passages")
        return self.follower if counted[1] > FEW else None

    def _fill_beside(self, version: str) -> None:
        """Fill the follower in a thread, once for each version."""

        def fill() -> None:
            try:
                self.fill(version)
            except Exception as error:  # Questions are answered without it.
                self._warn(version, error)

        with self._filling:
            if (self._failed and self._failed[0] == version) or (self._thread and self._thread.is_alive()):
                return
            self._thread = threading.Thread(target=fill, name="fill", daemon=True)
            self._thread.start()

    def _warn(self, version: str, error: Exception) -> None:
        if self._failed is None or self._failed[0] != version:
            log.warning("exact_search", index=getattr(self.follower, "place", ""), reason=str(error)[:200])
        self._failed = version, str(error).partition("\n")[0] or type(error).__name__

    def _entries(self, ids: Sequence[str]) -> Iterable[Entry]:
        query = f"SELECT id, vector, {', '.join(FILTERS)} FROM passages WHERE id = ANY(:ids)"
        for start in range(0, len(ids), AT_ONCE):
            for id_, vector, *values in self._database.rows(query, ids=list(ids[start : start + AT_ONCE])):
                where = {name: value for name, value in zip(FILTERS, values, strict=True) if value is not None}
                yield Entry(id_, to_vector(vector), where)

    def _by_pgvector(self, version: str, vector: Sequence[float], limit: int, where: Mapping[str, str]) -> Hits:
        rows: Sequence[Any] = ()
        values = {"vector": str([float(value) for value in vector]), "limit": limit, **where}
        key = (version, *sorted(where.items()))
        # Beside that of the audience, a filter may let so few through that an index would go through many others.
        if where.keys() - {"audience"} and key not in self._few:
            if len(self._few) > MOST_REMEMBERED:
                self._few.clear()
            count = f"SELECT count(*) FROM (SELECT FROM passages WHERE {condition(where)} LIMIT {FEW}) AS allowed"
            self._few[key] = self._database.value(count, **where) < FEW
        if not self._few.get(key):
            parts = (
                PART.format(dimensions=len(vector), seen=seen, where=condition(where))
                for kind, seen in SEEN.items()
                if kind == where.get("audience", kind)
            )
            rows = self._database.rows(NEAREST.format(passages=" UNION ALL ".join(parts)), **values)
        if where and len(rows) < limit:
            rows = self._database.rows(NEAREST_OF_FEW.format(where=condition(where)), **values)
        return {id_: min(1.0, max(0.0, similarity)) for id_, similarity in rows}


# Each passage is in one of two indexes, so that what strangers may not see does not slow their searches.
SEEN = {"public": "audience = 'public'", "internal": "audience IS DISTINCT FROM 'public'"}
NEAREST = """
SELECT id, 1 - (vector <=> CAST(:vector AS vector)) AS similarity FROM ({passages}) AS passages
ORDER BY similarity DESC LIMIT :limit
"""
# A parameter has the type of its first cast: the similarity would be that of a vector of 16 bits, were it a halfvec.
PART = """
(SELECT id, vector FROM passages WHERE vector_dims(vector) = {dimensions} AND {seen} AND {where} ORDER BY
 CAST(vector AS halfvec({dimensions})) <=> CAST(CAST(:vector AS vector) AS halfvec({dimensions})) LIMIT :limit)
"""
NEAREST_OF_FEW = """
WITH allowed AS MATERIALIZED (SELECT id, vector FROM passages WHERE {where})
SELECT id, 1 - (vector <=> CAST(:vector AS vector)) AS similarity FROM allowed ORDER BY similarity DESC LIMIT :limit
"""
# Most dimensions that pgvector indexes. It does so as numbers of 16 bits: half the memory to build and to search.
MOST_DIMENSIONS = 4000
# How many neighbours are compared for each vector that is put in: with the usual 64, a search of 100,000 passages
# misses 35 in 1,000 of the true neighbours, with 200 it misses 13.
BUILD_BREADTH = 200


def index_vectors(database: Database, dimensions: int) -> None:
    """Make the indexes of so many dimensions in PostgreSQL, and drop others. Raise ConfigurationError for too many."""
    if database.dialect != "postgresql":
        return
    if dimensions > MOST_DIMENSIONS:
        msg = (
            f"PostgreSQL indexes vectors of {MOST_DIMENSIONS} dimensions at most, not {dimensions}; set EMBEDDING_MODEL"
        )
        raise ConfigurationError(msg)
    made = {f"vectors_{dimensions}_{kind}": seen for kind, seen in SEEN.items()}
    for name, seen in made.items():
        database.run(
            f"CREATE INDEX IF NOT EXISTS {name} ON passages USING hnsw "
            f"((CAST(vector AS halfvec({dimensions}))) halfvec_cosine_ops) WITH (ef_construction = {BUILD_BREADTH}) "
            f"WHERE vector_dims(vector) = {dimensions} AND {seen}"
        )
    others = "SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND indexname LIKE 'vectors_%'"
    for (other,) in database.rows(others):
        if other not in made:
            database.run(f"DROP INDEX {other}")


def from_vector(vector: NDArray[np.float32]) -> bytes:
    return vector.astype("<f4").tobytes()


def to_vector(vector: bytes) -> NDArray[np.float32]:
    return np.frombuffer(vector, dtype="<f4")


def to_wire(vector: NDArray[np.float32]) -> bytes:
    """Return a vector as pgvector receives it: two numbers of 16 bits, then its values, all big-endian."""
    return len(vector).to_bytes(2, "big") + b"\0\0" + vector.astype(">f4").tobytes()


def from_wire(vector: bytes) -> NDArray[np.float32]:
    """Return the vector that pgvector sends in the same form."""
    return np.frombuffer(vector, dtype=">f4", offset=4).astype(np.float32)


class _Matrix:
    """All vectors of one version in memory."""

    def __init__(self, rows: Sequence[Any]) -> None:
        self._ids = [row[0] for row in rows]
        shape = len(rows), -1 if rows else 0
        self._vectors = np.frombuffer(b"".join(row[1] for row in rows), dtype="<f4").reshape(shape)
        lengths = np.linalg.norm(self._vectors, axis=1)
        self._lengths = np.where(lengths == 0, 1, lengths)
        columns = ((name, [row[place] for row in rows]) for place, name in enumerate(FILTERS, start=2))
        self._values = {name: np.array(column, dtype=object) for name, column in columns}

    def nearest(self, vector: Sequence[float], limit: int, where: Mapping[str, str]) -> Hits:
        if not self._ids:
            return {}
        asked = np.asarray(vector, dtype=np.float32)
        scores = np.clip(self._vectors @ asked / (self._lengths * (np.linalg.norm(asked) or 1)), 0.0, 1.0)
        for name, value in where.items():
            scores = np.where(self._values[name] == value, scores, -1)
        count = min(limit, len(scores))
        # Of equal scores the first row is taken, whichever half of the numbers a partition puts it in.
        least = np.partition(scores, len(scores) - count)[len(scores) - count] if count else 0
        near = np.flatnonzero((scores >= least) & (scores >= 0))
        best = near[np.argsort(-scores[near], kind="stable")][:count]
        return {self._ids[place]: float(scores[place]) for place in best}
