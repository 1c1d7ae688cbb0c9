"""`waypoint recall`: list the answers that rest on words which changed or vanished, and ask them again."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.ingest import service_to_ask
from app.cli.rendering import as_json, show
from app.ledger.answers import LoggedAnswer
from app.wings.knowledge.answer_log import can_recall, open_answers
from app.wings.knowledge.held_words import tokens_of
from app.wings.knowledge.ingested import entry_of, summary_of
from app.wings.knowledge.recall import MOST_SHOWN, check, count_recalled, recalled
from chains.errors import ConfigurationError
from chains.text.letters import one_line

if TYPE_CHECKING:
    from app.wiring import Service


def recall(
    ask: Annotated[bool, typer.Option("--ask", help="Ask each question again, and compare the answers.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="Most answers to show; the newest.")] = MOST_SHOWN,
) -> None:
    """List the answers that rest on words which changed or vanished."""
    services = service_to_ask()
    if not can_recall(services.settings):
        msg = "recall needs ANSWER_LOG=true and an index of its own, without RETRIEVAL_URL"
        raise ConfigurationError(msg)
    store = open_answers(services.settings)
    check(store, services.index.current())
    found = recalled(store, services.index.current(), limit=limit)
    entries = [entry_of(one) | (_again(one.answer, services) if ask else {}) for one in found]
    number = count_recalled(store)
    if json:
        show(as_json({"days": store.days, "recalled": number, "answers": entries}))
    else:
        for entry in entries:
            show(_text(entry))
        show(f"{summary_of(number, store.days)}." + (f" The newest {limit} are shown." if number > limit else ""))


def _again(answer: LoggedAnswer, services: "Service") -> dict[str, Any]:
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
        verdict = "the same answer" if entry["same"] else f"another answer: {one_line(entry['answer_now'])}"
        lines.append(f"  asked again: {verdict}")
    return "\n".join([*lines, ""])
