"""`waypoint recall`, and what happens after each change of the index: who was told words that are gone?"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

from app.cli.ingest import open_services
from app.cli.rendering import as_json, show
from app.wings.knowledge.answer_log import open_answers
from app.wings.knowledge.answers import LoggedAnswer
from app.wings.knowledge.held_words import tokens_of
from app.wings.knowledge.recall import MOST_SHOWN, Recalled, check, count_recalled, recalled
from app.wings.knowledge.settings import AnswerLogSettings
from chains.errors import ConfigurationError, WaypointError
from chains.logs import get_logger
from chains.text.letters import one_line

if TYPE_CHECKING:
    from app.wiring import Services

MOST_EVENTS = 1000  # Of one change; the newest answers.

log = get_logger(__name__)


def recall(
    ask: Annotated[bool, typer.Option("--ask", help="Ask each question again, and compare the answers.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="Most answers to show; the newest.")] = MOST_SHOWN,
) -> None:
    """List the answers that rest on words which changed or vanished."""
    services = open_services()
    if services.remote is not None or not services.settings.wing(AnswerLogSettings).enabled:
        msg = "recall needs ANSWER_LOG=true and an index of its own, without RETRIEVAL_URL"
        raise ConfigurationError(msg)
    store = open_answers(services.settings)
    check(store, services.index.current())
    found = recalled(store, services.index.current(), limit=limit)
    entries = [_entry(one) | (_again(one.answer, services) if ask else {}) for one in found]
    number = count_recalled(store)
    if json:
        show(as_json({"days": store.days, "recalled": number, "answers": entries}))
    else:
        for entry in entries:
            show(_text(entry))
        show(f"{_told(number, store.days)}." + (f" The newest {limit} are shown." if number > limit else ""))


def index_changed(services: "Services") -> None:
    """Bring the log in line with the index, and publish an event for each answer that is recalled by this change.

    A log that cannot be read is only told of: the index has changed, whatever becomes of the log.
    """
    if services.remote is not None or not services.settings.wing(AnswerLogSettings).enabled:
        return
    try:
        store = open_answers(services.settings)
        newly = check(store, services.index.current())
        if newly and services.outbox is not None:
            for one in recalled(store, services.index.current(), limit=MOST_EVENTS):
                if any(change.quote_id in newly for change in one.changes):
                    services.outbox.leave("AnswerRecalled", _payload(one), correlation_id=str(uuid4()))
        store.database.close()
    except WaypointError as error:
        log.warning("answers_not_checked", error=str(error))


def after_ingestion(services: "Services", _paths: Sequence[str]) -> Iterator[str]:
    """Yield a line where answers rest on words that changed, for the end of `waypoint ingest`."""
    if services.remote is not None or not services.settings.wing(AnswerLogSettings).enabled:
        return
    store = open_answers(services.settings)
    try:
        number = count_recalled(store)
        store.database.close()
    except WaypointError as error:
        log.warning("answers_not_checked", error=str(error))
        return
    if number:
        yield f"{_told(number, store.days)}. See them with: waypoint recall"


def _told(number: int, days: int) -> str:
    answers, rest = ("answer", "rests") if number == 1 else ("answers", "rest")
    return f"{number} {answers} of the last {days} days {rest} on words that changed or vanished"


def _entry(one: Recalled) -> dict[str, Any]:
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


def _again(answer: LoggedAnswer, services: "Services") -> dict[str, Any]:
    """Return the answer of now, and whether it is the same; nothing where question or answer were not kept."""
    question, proof = answer.search_query or answer.question, answer.certificate
    if not question or not proof:
        return {"same": None}
    asked: Any = {"question": question} | ({"language": answer.language} if answer.language else {})
    now = services.chain.invoke(asked, {"configurable": {"audience": answer.audience}})
    same = tokens_of(now["answer"]) == tokens_of(proof["answer"])
    return {"same": same, "answer": proof["answer"], "answer_now": now["answer"], "outcome_now": now["outcome"]}


def _text(entry: dict[str, Any]) -> str:
    who = f"{entry['asker'] or 'anonymous'}, {entry['audience']}"
    lines = [f"{entry['asked_at']}  {one_line(entry['question'] or 'a question that was not kept')}  ({who})"]
    for change in entry["changes"]:
        lines += [f"  - {one_line(change['old'])}  [{change['title']}]"]
        lines += [f"  + {one_line(change['new'])}" if change["new"] else "  (vanished)"]
    if entry.get("same") is not None:
        told = "the same answer" if entry["same"] else f"another answer: {one_line(entry['answer_now'])}"
        lines.append(f"  asked again: {told}")
    return "\n".join([*lines, ""])


def _payload(one: Recalled) -> dict[str, Any]:
    entry = _entry(one)
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
