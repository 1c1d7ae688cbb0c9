"""Find the logged answers that rest on words which a document no longer holds.

Each quote in the log is bound to the document that holds it, and to a fingerprint of that document. A check compares
fingerprints, reads only documents that changed, and follows words that moved to another document.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from langchain_core.documents import Document

from app.ledger.passages import Passages
from app.wings.knowledge.answers import DAY_S, FIELDS, AnswerStore, LoggedAnswer, read_answer
from app.wings.knowledge.held_words import Words, documents_of, holders, nearest_words, text_of, tokens_of
from app.wiring.library import chunks_by_id
from chains.audience import Audience, audience_of

CANDIDATES = 10  # Passages among which changed words are looked for, beside the document itself.
MOST_SHOWN = 100

PLACES = "SELECT DISTINCT found_in, fingerprint FROM quotes WHERE collection = :collection"
QUOTES = "SELECT id, fingerprint, quote, table_head FROM quotes WHERE collection = :collection AND "
SEEN = """
UPDATE quotes SET fingerprint = :seen WHERE collection = :collection AND found_in = :doc_id AND fingerprint IS NOT NULL
"""
SEEN_NEW = "UPDATE quotes SET fingerprint = :seen WHERE id = :id AND found_in = :doc_id"
STILL_MISSING = "UPDATE quotes SET fingerprint = :seen WHERE collection = :collection AND found_in IS NULL"
FOUND = "UPDATE quotes SET found_in = :doc_id, fingerprint = :seen, missing_since = NULL WHERE id = :id"
MISSING = """
UPDATE quotes SET found_in = NULL, fingerprint = :seen, missing_since = :now WHERE id = :id AND found_in IS NOT NULL
"""
RESTING = """
FROM answers JOIN answer_quotes ON answer_quotes.answer = answers.id JOIN quotes ON quotes.id = answer_quotes.quote
WHERE answers.collection = :collection AND quotes.found_in IS NULL AND answers.at >= :since
"""
COUNT = f"SELECT count(DISTINCT answers.id) {RESTING}"
NEWEST = f"""
SELECT quotes.id, quotes.doc_id, quotes.title, quotes.quote, {FIELDS} {RESTING}
AND answers.id IN (SELECT DISTINCT answers.id {RESTING} ORDER BY answers.id DESC LIMIT :limit) ORDER BY answers.id DESC
"""
OF_TRACE = f"SELECT quotes.id, quotes.doc_id, quotes.title, quotes.quote, {FIELDS} {RESTING} AND trace_id = :trace_id"


@dataclass(frozen=True, slots=True)
class Change:
    """Words of a document that are gone, and the nearest that a document holds now; None where nothing is like them."""

    quote_id: int
    doc_id: str
    title: str
    old: str
    new: str | None


@dataclass(frozen=True, slots=True)
class Recalled:
    """An answer that rests on words which changed or vanished."""

    answer: LoggedAnswer
    changes: tuple[Change, ...]


class _Quote(NamedTuple):
    id: int
    is_checked: bool
    words: Words


def check(store: AnswerStore, index: Passages) -> set[int]:
    """Bring the log in line with the index, and return the ids of the quotes that went missing since the last check.

    Raises:
        AnswerLogError: the log cannot be read or written.
        VectorStoreError: the index cannot be read.
    """
    with store.database.transaction() as execute:
        places = [(doc_id, seen) for doc_id, seen in execute(PLACES, {"collection": store.collection})]
    current = {doc_id: _fingerprint(index, doc_id) for doc_id, _ in places if doc_id is not None}
    stale = {doc_id: _quotes(store, doc_id) for doc_id, seen in places if doc_id and seen != current[doc_id]}
    still = {id_ for doc_id, held in documents_of(index, stale) for id_, _ in _held(stale[doc_id], [(doc_id, held)])}
    gone = [one for some in stale.values() for one in some if one.id not in still]
    if any(doc_id is None and seen != _version(index) for doc_id, seen in places):
        gone += _quotes(store, None)
    everywhere = (one.doc_id for one in index.documents()) if gone else ()
    moved = dict(_held(gone, documents_of(index, everywhere)))
    return _keep(store, index, {doc_id: (current[doc_id], some) for doc_id, some in stale.items()}, gone, moved)


def _keep(
    store: AnswerStore,
    index: Passages,
    stale: Mapping[str, tuple[str, Sequence[_Quote]]],
    gone: Sequence[_Quote],
    moved: Mapping[int, str],
) -> set[int]:
    """Write what a check found, and return the ids of the quotes that are missing now and were not before."""
    seen = {doc_id: _fingerprint(index, doc_id) for doc_id in set(moved.values())}
    lost = {"seen": _version(index), "now": store.now()}
    with store.database.transaction() as execute:
        for id_, doc_id in moved.items():
            execute(FOUND, {"id": id_, "doc_id": doc_id, "seen": seen[doc_id]})
        newly = {one.id for one in gone if one.id not in moved and execute(MISSING, {"id": one.id, **lost}).rowcount}
        execute(STILL_MISSING, {"collection": store.collection, "seen": lost["seen"]})
        for doc_id, (now, quotes) in stale.items():
            execute(SEEN, {"collection": store.collection, "doc_id": doc_id, "seen": now})
            for one in quotes:
                if not one.is_checked:
                    execute(SEEN_NEW, {"id": one.id, "doc_id": doc_id, "seen": now})
    return newly


def count_recalled(store: AnswerStore) -> int:
    """Return how many answers rest on words that changed or vanished, by the last check."""
    with store.database.transaction() as execute:
        return int(next(iter(execute(COUNT, _since(store))))[0])


def recalled(
    store: AnswerStore,
    index: Passages,
    *,
    audience: Audience = "internal",
    trace_id: str | None = None,
    limit: int = MOST_SHOWN,
) -> list[Recalled]:
    """Return the answers that rest on words which changed or vanished, by the last check, the newest first.

    Args:
        store: the log.
        index: where the nearest words of now are looked for.
        audience: whose documents new words may come from.
        trace_id: of one answer alone.
        limit: how many answers at most.
    """
    statement, values = (NEWEST, {"limit": limit}) if trace_id is None else (OF_TRACE, {"trace_id": trace_id})
    with store.database.transaction() as execute:
        rows = list(execute(statement, _since(store) | values))
    known: dict[int, Change] = {}
    found: dict[str, list[Change]] = {}
    answers: dict[str, LoggedAnswer] = {}
    for id_, doc_id, title, quote, *fields in rows:
        answer = read_answer(fields)
        if id_ not in known:
            known[id_] = Change(id_, doc_id, title, quote, _now(index, doc_id, quote, audience))
        answers[answer.trace_id] = answer
        found.setdefault(answer.trace_id, []).append(known[id_])
    return [Recalled(answers[trace], tuple(changes)) for trace, changes in found.items()]


def _now(index: Passages, doc_id: str, quote: str, audience: Audience) -> str | None:
    """Return the words that are nearest to a quote, in its document, or else wherever a search finds them."""
    where = {"audience": "public"} if audience == "public" else {}
    places = (index.chunks_of(doc_id), list(index.search(quote, CANDIDATES, where)))
    for ids in places:
        chunks = [one for one in chunks_by_id(index, ids).values() if _is_shown(one, audience)]
        if chunks and (words := nearest_words(quote, [text_of(chunks)] if ids is places[0] else _texts(chunks))):
            return words
    return None


def _texts(chunks: Iterable[Document]) -> Iterator[str]:
    return (chunk.page_content for chunk in chunks)


def _is_shown(chunk: Document, audience: Audience) -> bool:
    return audience == "internal" or audience_of(chunk.metadata) == "public"


def _held(quotes: Iterable[_Quote], documents: Iterable[tuple[str, tuple[str, ...]]]) -> Iterator[tuple[int, str]]:
    return holders({one.id: one.words for one in quotes}, documents)


def _quotes(store: AnswerStore, doc_id: str | None) -> list[_Quote]:
    """Return the quotes that a document held at the last check; those of None are missing."""
    place = "found_in IS NULL" if doc_id is None else "found_in = :doc_id"
    values = {"collection": store.collection} | ({} if doc_id is None else {"doc_id": doc_id})
    with store.database.transaction() as execute:
        rows = list(execute(QUOTES + place, values))
    return [_Quote(id_, seen is not None, Words(tokens_of(quote), tokens_of(head))) for id_, seen, quote, head in rows]


def _fingerprint(index: Passages, doc_id: str) -> str:
    """Return what changes with any chunk of a document: the ids of chunks are hashes of them."""
    return hashlib.sha256("\n".join(index.chunks_of(doc_id)).encode()).hexdigest()[:16]


def _version(index: Passages) -> str:
    return index.version or ""


def _since(store: AnswerStore) -> dict[str, Any]:
    return {"collection": store.collection, "since": store.now() - store.days * DAY_S}
