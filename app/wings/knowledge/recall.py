"""Find the logged answers that rest on words which a document no longer holds.

A statement that answers cite points to a passage that holds it. A check looks at those whose passage is gone, first in
their own document and then, because words move, in all others; what no document holds is missing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from langchain_core.documents import Document
from sqlalchemy import text

from app.ledger.answers import FIELDS, AnswerStore, LoggedAnswer, read_answer
from app.ledger.passages import Passages
from app.wings.knowledge.held_words import Words, documents_of, holders, nearest_words, text_of, tokens_of
from app.wiring.library import chunks_by_id
from chains.audience import Audience, audience_of

CANDIDATES = 10  # Passages among which changed words are looked for, beside the document itself.
MOST_SHOWN = 100

UNSETTLED = """
SELECT id, doc_id, quote, table_head, passage FROM statements WHERE passage IS NOT NULL OR :version !=
    coalesce((SELECT value FROM facts WHERE name = 'recalled'), '')
"""
HELD = "UPDATE statements SET passage = :passage, missing_since = NULL WHERE id = :id"
MISSING = "UPDATE statements SET passage = NULL, missing_since = :now WHERE id = :id AND missing_since IS NULL"
STILL_MISSING = "UPDATE statements SET passage = NULL WHERE id = :id AND missing_since IS NOT NULL"
CHECKED = """
INSERT INTO facts (name, value) VALUES ('recalled', :version) ON CONFLICT (name) DO UPDATE SET value = :version
"""
RESTING = """
FROM answers JOIN citations ON citations.answer = answers.id JOIN statements ON statements.id = citations.statement
WHERE statements.missing_since IS NOT NULL AND answers.at >= :since
"""
COUNT = f"SELECT count(DISTINCT answers.id) {RESTING}"
SELECT = f"SELECT statements.id, statements.doc_id, statements.title, statements.quote, {FIELDS} {RESTING}"
NEWEST = f"""
{SELECT} AND answers.id IN (SELECT DISTINCT answers.id {RESTING} ORDER BY answers.id DESC LIMIT :limit)
ORDER BY answers.id DESC, statements.id
"""
OF_TRACE = f"{SELECT} AND trace_id = :trace_id ORDER BY statements.id"


@dataclass(frozen=True, slots=True)
class Change:
    """Words of a document that are gone, and the nearest that a document holds now; None where nothing is like them."""

    statement: str
    doc_id: str
    title: str
    old: str
    new: str | None


@dataclass(frozen=True, slots=True)
class Recalled:
    """An answer that rests on words which changed or vanished."""

    answer: LoggedAnswer
    changes: tuple[Change, ...]


def check(store: AnswerStore, index: Passages) -> set[str]:
    """Bring the log in line with the index, and return the ids of the statements that are missing since this check.

    Raises:
        VectorStoreError: the log cannot be read or written, or the index not be read.
    """
    version = index.version or ""
    with store.database.reading() as connection:
        rows = connection.execute(text(UNSETTLED), {"version": version}).all()
    present = chunks_by_id(index, [row.passage for row in rows if row.passage])
    unsettled = {row.id: row for row in rows if row.passage not in present}
    wanted = {id_: Words(tokens_of(row.quote), tokens_of(row.table_head)) for id_, row in unsettled.items()}
    own = list(dict.fromkeys(row.doc_id for row in unsettled.values()))
    passages = dict(holders(wanted, documents_of(index, own)))
    if gone := {id_: words for id_, words in wanted.items() if id_ not in passages}:
        passages |= dict(holders(gone, documents_of(index, (one.doc_id for one in index.documents()))))
    with store.changing() as connection:
        newly = set()
        for id_ in unsettled:
            if id_ in passages:
                connection.execute(text(HELD), {"id": id_, "passage": passages[id_]})
            elif connection.execute(text(MISSING), {"id": id_, "now": store.now()}).rowcount:
                newly.add(id_)
            else:
                connection.execute(text(STILL_MISSING), {"id": id_})
        connection.execute(text(CHECKED), {"version": version})
    return newly


def count_recalled(store: AnswerStore) -> int:
    """Return how many answers rest on words that changed or vanished, by the last check."""
    with store.database.reading() as connection:
        return int(connection.execute(text(COUNT), {"since": store.oldest}).scalar_one())


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
    statement, values = NEWEST, dict[str, Any](limit=limit)
    if trace_id is not None:
        statement, values = OF_TRACE, {"trace_id": trace_id}
    with store.database.reading() as connection:
        rows = list(connection.execute(text(statement), {"since": store.oldest} | values))
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
