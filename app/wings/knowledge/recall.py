"""Find the logged answers that rest on words which a document no longer holds, and publish and count them.

A statement that answers cite points to a passage that holds it. A check looks at those whose passage is gone, first in
their own document and then, because words move, in all others; what no document holds is missing.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import fsum
from typing import Any, NamedTuple
from uuid import uuid4

from langchain_core.documents import Document

from app.ledger.answers import FIELDS, AnswerStore, LoggedAnswer, read_answer
from app.ledger.passages import Passages
from app.wings.knowledge.answer_log import can_recall, open_answers
from app.wiring.index import Index
from chains.documents.audience import Audience, audience_of
from chains.documents.library import parts_of
from chains.text.statements import sentence_bounds
from chains.text.tokens import tokens

# Numbers with their sign, separators and unit, comparisons before a number, and words. Other marks, white space, case
# and Markdown's emphasis may differ where words are the same.
_TOKEN = re.compile(r"(?:(?<!\w)[-\u2212])?\d+(?:[.,:/-]\d+)*|[<>≤≥±~]=?(?=\s*\d)|[%‰°$€£¥]|[^\W\d_]+")
ANCHOR = 4  # Tokens by which a text is looked up before it is compared whole.
LIKE_ENOUGH = 0.5  # Of the tokens of two sentences, how many have to be the same.
MOST_WORDS, VERY_SIMILAR = 0.8, 0.7  # Weights of the words, and cosine.

Tokens = tuple[str, ...]


class Words(NamedTuple):
    """Words that a document has to hold: those of a quote, and those of the head of its table, which may be none."""

    quote: Tokens
    head: Tokens = ()


def tokens_of(text: str) -> Tokens:
    """Return the words, numbers and units of a text in one case and form."""
    return tuple(_TOKEN.findall(unicodedata.normalize("NFKC", text).casefold()))


def text_of(chunks: Sequence[Document]) -> str:
    """Return the text of a document, with the heads of its tables behind it: some readers keep them apart."""
    heads = dict.fromkeys(str(chunk.metadata.get("table_head") or "") for chunk in chunks)
    return "\n\n".join([*(part.text for part in parts_of(chunks)), *heads])


def holders(wanted: Mapping[str, Words], documents: Iterable[Sequence[Document]]) -> Iterator[tuple[str, str]]:
    """Yield which words a document holds, each with the id of a passage that holds them whole, or nothing.

    The time grows with the sum of words and documents.
    """
    by_anchor: dict[Tokens, list[str]] = defaultdict(list)
    for key, words in wanted.items():
        by_anchor[words.quote[:ANCHOR]].append(key)
    lengths = {len(anchor) for anchor in by_anchor}
    for passages in documents:
        text = tokens_of(text_of(passages))
        anchors = by_anchor.keys() & {text[at : at + length] for length in lengths for at in range(len(text))}
        hits = [key for anchor in anchors for key in by_anchor[anchor] if _holds(text, wanted[key])]
        parts = {str(passage.id): tokens_of(text_of([passage])) for passage in passages} if hits else {}
        for key in hits:
            yield key, next((id_ for id_, part in parts.items() if _holds(part, wanted[key])), "")


def _holds(text: Tokens, words: Words) -> bool:
    joined = f" {' '.join(text)} "
    return all(f" {' '.join(part)} " in joined for part in words if part)


def says(content: str, metadata: Mapping[str, Any], question: str) -> bool:
    """Return whether a passage says what is asked: it holds most of the question's words, or is very similar."""
    words = [word for word in tokens(question) if word.weight > 0]
    held = {word.key for word in tokens(f"{metadata.get('title')}\n{metadata.get('section')}\n{content}")}
    share = fsum(word.weight for word in words if word.key in held) / (fsum(word.weight for word in words) or 1)
    return share >= MOST_WORDS or (metadata.get("score") or 0) >= VERY_SIMILAR


def nearest_words(quote: str, texts: Iterable[str]) -> str | None:
    """Return the sentences of the texts that are most like a quote; None where none is like it."""
    wanted, number = Counter(tokens_of(quote)), max(1, len(list(sentence_bounds(quote))))
    scored: list[tuple[float, str]] = []
    for text in texts:
        bounds = list(sentence_bounds(text))
        for first in range(max(1, len(bounds) - number + 1) if bounds else 0):
            window = bounds[first : first + number]
            words = text[window[0][0] : window[-1][1]]
            held = Counter(tokens_of(words))
            # The share of tokens that both have (Dice's coefficient).
            scored.append((2 * (wanted & held).total() / max(1, wanted.total() + held.total()), words))
    score, best = max(scored, default=(0.0, ""))
    return best if score >= LIKE_ENOUGH else None


CANDIDATES = 10  # Passages among which changed words are looked for, beside the document itself.
MOST_EVENTS = 1000  # Of one change; the newest answers.
# What the event AnswerRecalled calls the fields of an entry.
EVENT_NAMES = {"trace_id": "traceId", "asked_at": "askedAt", "asker": "askerHash", "question": "query"}
EVENT_NAMES |= {"doc_id": "docId", "old": "oldWords", "new": "newWords"}

UNSETTLED = """
SELECT id, doc_id, quote, table_head, passage FROM statements WHERE passage IS NOT NULL OR :version !=
    coalesce((SELECT value FROM facts WHERE name = 'recalled'), '')
"""
MISSING = "SELECT id, missing_since FROM statements WHERE missing_since IS NOT NULL"
SETTLE = "UPDATE statements SET passage = :passage, missing_since = :missing_since WHERE id = :id"
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

    def entry(self) -> dict[str, Any]:
        return {
            "trace_id": self.answer.trace_id,
            "asked_at": datetime.fromtimestamp(self.answer.at, UTC).isoformat(timespec="seconds"),
            "asker": self.answer.asker,
            "audience": self.answer.audience,
            "question": self.answer.question,
            "changes": [
                {"doc_id": change.doc_id, "title": change.title, "old": change.old, "new": change.new}
                for change in self.changes
            ],
        }


def check(store: AnswerStore, index: Passages) -> set[str]:
    """Bring the log in line with the index, and return the ids of the statements that are missing since this check."""
    version = index.version or ""
    rows = store.database.rows(UNSETTLED, version=version)
    present = {passage.id for passage in index.get_by_ids([row.passage for row in rows if row.passage])}
    unsettled = {row.id: row for row in rows if row.passage not in present}
    wanted = {id_: Words(tokens_of(row.quote), tokens_of(row.table_head)) for id_, row in unsettled.items()}
    own = dict.fromkeys(row.doc_id for row in unsettled.values())
    passages = dict(holders(wanted, map(index.document, own)))
    if gone := {id_: words for id_, words in wanted.items() if id_ not in passages}:
        passages |= dict(holders(gone, (index.document(held.doc_id) for held in index.documents())))
    missing, now = unsettled.keys() - passages.keys(), store.now()
    with store.changing():
        since = dict(map(tuple, store.database.rows(MISSING)))
        settled = [
            {"id": id_, "passage": passages.get(id_), "missing_since": since.get(id_, now) if id_ in missing else None}
            for id_ in unsettled
        ]
        if settled:
            store.database.run(SETTLE, settled)
        store.database.state("recalled", version)
    return missing - since.keys()


def count_recalled(store: AnswerStore) -> int:
    """Return how many answers rest on words that changed or vanished, by the last check."""
    return int(store.database.value(COUNT, since=store.oldest))


def recalled(
    store: AnswerStore,
    index: Passages,
    *,
    audience: Audience = "internal",
    trace_id: str | None = None,
    limit: int = 100,
) -> list[Recalled]:
    """Return the answers that rest on words which changed or vanished, by the last check, the newest first.

    The nearest words of now are looked for in the index, and come from documents for this audience. `trace_id` asks for
    one answer alone.
    """
    statement, values = NEWEST, dict[str, Any](limit=limit)
    if trace_id is not None:
        statement, values = OF_TRACE, {"trace_id": trace_id}
    rows = store.database.rows(statement, since=store.oldest, **values)
    known: dict[int, Change] = {}
    found: dict[str, tuple[LoggedAnswer, list[Change]]] = {}
    for id_, doc_id, title, quote, *fields in rows:
        answer = read_answer(fields)
        if id_ not in known:
            known[id_] = Change(id_, doc_id, title, quote, _now(index, doc_id, quote, audience))
        found.setdefault(answer.trace_id, (answer, []))[1].append(known[id_])
    return [Recalled(answer, tuple(changes)) for answer, changes in found.values()]


def _now(index: Passages, doc_id: str, quote: str, audience: Audience) -> str | None:
    """Return the words that are nearest to a quote, in its document, or else wherever a search finds them."""

    def visible(chunks: Iterable[Document]) -> list[Document]:
        return [chunk for chunk in chunks if audience == "internal" or audience_of(chunk.metadata) == "public"]

    if (own := visible(index.document(doc_id))) and (words := nearest_words(quote, [text_of(own)])):
        return words
    hits = index.search(quote, CANDIDATES, {"audience": "public"} if audience == "public" else {})
    return nearest_words(quote, [chunk.page_content for chunk in visible(index.get_by_ids(list(hits)))])


def index_changed(index: Index) -> None:
    """Bring the log in line with the index, and publish an event for each answer that is recalled by this change."""
    if not can_recall(index.settings):
        return
    store = open_answers(index.settings)
    store.trim()  # Also where nobody has asked for so long that no new answer does.
    newly = check(store, index.current())
    if newly and index.outbox is not None:
        for answer in recalled(store, index.current(), limit=MOST_EVENTS):
            if any(change.statement in newly for change in answer.changes):
                entry = answer.entry()
                payload = {EVENT_NAMES.get(name, name): value for name, value in entry.items() if value is not None}
                changes = (change.items() for change in entry["changes"])
                payload["changes"] = [{EVENT_NAMES.get(name, name): value for name, value in some} for some in changes]
                index.outbox.publish("AnswerRecalled", payload, correlation_id=str(uuid4()))


def count_of_recalled(index: Index, _paths: Sequence[str]) -> Iterator[str]:
    """Yield a line where answers rest on words that changed, for the end of `waypoint ingest`."""
    if can_recall(index.settings):
        store = open_answers(index.settings)
        if number := count_recalled(store):
            yield f"{summary_of(number, store.days)}. See them with: waypoint recall"


def summary_of(number: int, days: int) -> str:
    answers, rest = ("answer", "rests") if number == 1 else ("answers", "rest")
    return f"{number} {answers} of the last {days} days {rest} on words that changed or vanished"
