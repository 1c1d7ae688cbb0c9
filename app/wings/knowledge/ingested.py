"""What follows a change of the index: recalled answers are found and published, `waypoint ingest` ends with a line."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from app.wings.knowledge.answer_log import can_recall, open_answers
from app.wings.knowledge.recall import Recalled, check, count_recalled, recalled

if TYPE_CHECKING:
    from app.wiring.index import Index

MOST_EVENTS = 1000  # Of one change; the newest answers.


def index_changed(index: "Index") -> None:
    """Bring the log in line with the index, and publish an event for each answer that is recalled by this change."""
    if not can_recall(index.settings):
        return
    store = open_answers(index.settings)
    store.trim()  # Also where nobody has asked for so long that no new answer does.
    newly = check(store, index.current())
    if newly and index.outbox is not None:
        for answer in recalled(store, index.current(), limit=MOST_EVENTS):
            if any(change.statement in newly for change in answer.changes):
                index.outbox.leave("AnswerRecalled", _payload(answer), correlation_id=str(uuid4()))


def count_of_recalled(index: "Index", _paths: Sequence[str]) -> Iterator[str]:
    """Yield a line where answers rest on words that changed, for the end of `waypoint ingest`."""
    if can_recall(index.settings):
        store = open_answers(index.settings)
        if number := count_recalled(store):
            yield f"{summary_of(number, store.days)}. See them with: waypoint recall"


def worth_a_look(index: "Index", paths: Sequence[str]) -> Iterator[str]:
    """Yield a line about the Markdown and plain text below the paths, for the end of `waypoint ingest`."""
    from app.wings.knowledge.findings import read_and_lint
    from chains.ingestion.text_files import LOADERS

    folders = [Path(path) for path in paths if Path(path).exists()]
    _, findings = read_and_lint(folders, index.settings, endings=set(LOADERS))
    if findings:
        kinds = Counter(finding.kind for finding in findings)
        counts = ", ".join(f"{kind} {number}" for kind, number in sorted(kinds.items()))
        yield f"Worth a look: {counts}; `waypoint lint {' '.join(paths)}` shows where"


def summary_of(number: int, days: int) -> str:
    """Say how many answers are recalled."""
    answers, rest = ("answer", "rests") if number == 1 else ("answers", "rest")
    return f"{number} {answers} of the last {days} days {rest} on words that changed or vanished"


def entry_of(one: Recalled) -> dict[str, Any]:
    """Return a recalled answer as `waypoint recall --json` prints it."""
    answer = one.answer
    return {
        "trace_id": answer.trace_id,
        "asked_at": datetime.fromtimestamp(answer.at, UTC).isoformat(timespec="seconds"),
        "asker": answer.asker,
        "audience": answer.audience,
        "question": answer.question,
        "changes": [
            {"doc_id": change.doc_id, "title": change.title, "old": change.old, "new": change.new}
            for change in one.changes
        ],
    }


def _payload(one: Recalled) -> dict[str, Any]:
    entry = entry_of(one)
    changes = [
        {"docId": change["doc_id"], "title": change["title"], "oldWords": change["old"], "newWords": change["new"]}
        for change in entry["changes"]
    ]
    payload = {
        "traceId": entry["trace_id"],
        "query": entry["question"],
        "askedAt": entry["asked_at"],
        "askerHash": entry["asker"],
        "audience": entry["audience"],
        "changes": changes,
    }
    return {name: value for name, value in payload.items() if value is not None}
