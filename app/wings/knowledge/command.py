"""`waypoint verify`, `why`, `recall`, `forget`, `insights` and `lint`: check answers and documents, and learn."""

import json as json_format
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from app import hooks
from app.cli.ingest import read_settings, service_to_ask
from app.cli.rendering import as_json, complain, progress_bar, show
from app.wings.knowledge.verification import Document, Reader, UnreadableError, verify
from chains.documents.audience import Audience
from chains.errors import ConfigurationError, IngestionError, WaypointError
from chains.ingestion.text_files import LOADERS
from chains.question import check_question
from chains.regular_files import read_bytes, read_text
from chains.text.letters import one_line

if TYPE_CHECKING:
    from app.ledger.answers import LoggedAnswer
    from app.wiring import Service


def verify_proof(
    file: Annotated[
        Path, typer.Argument(help="What `waypoint ask --proof FILE` wrote, or POST /api/certificate answered.")
    ],
    documents: Annotated[
        Path | None,
        typer.Option(help="Folder of the documents: are the quotes still there?", exists=True, file_okay=False),
    ] = None,
) -> None:
    """Check the proof of an answer, without network, model or index; exit 1 if a sentence fails."""
    try:
        certificate = json_format.loads(read_text(file))
    except (IngestionError, RecursionError, ValueError) as error:
        raise ConfigurationError(f"{file} cannot be read as a certificate: {error}") from error
    reader = _reader(documents) if documents else None
    verdicts = verify(certificate, reader)
    for verdict in verdicts:
        word = "FAILED  " if verdict.failure else "proven  " if verdict.rule else "unproven"
        why = verdict.failure or verdict.rule or "words alone do not prove it"
        reasons = one_line("; ".join(filter(None, (why, verdict.note))))
        show(f"{word}  {one_line(verdict.sentence) or 'the certificate'}\n          {reasons}")
    proven = sum(verdict.rule is not None for verdict in verdicts)
    failed = sum(verdict.failure is not None for verdict in verdicts)
    show(f"\n{proven} proven, {len(verdicts) - proven - failed} unproven, {failed} failed.")
    if not documents:
        complain("The quotes themselves were not looked up: --documents FOLDER does.")
    if failed:
        raise typer.Exit(1)


def _reader(folder: Path) -> Reader:
    """Return what reads the documents of a folder: a file's bytes, or its text by the reader of its ending."""

    def read(source: Mapping[str, Any]) -> Document | None:
        path = folder / str(source["file"] or "")
        try:
            if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
                return None
            if source["bytes"]:
                return Document(read_bytes(path))
            load = LOADERS.get(path.suffix.lower()) or hooks.load("readers", path.suffix.lower()[1:])
            read = load(path)
        except WaypointError as error:
            raise UnreadableError(str(error)) from error
        except Exception as error:  # Whatever a damaged file makes a library do, the other sentences are judged.
            raise UnreadableError(type(error).__name__) from error
        sections = [(page.start, 1, page.section) for page in read.pages if page.section]
        headings = [(heading.start, heading.level, heading.text) for heading in read.headings]
        return Document(read.text, read.metadata["title"], headings or sections)

    return read


def why_not(
    question: Annotated[str, typer.Argument(help="The question, in quotes.")],
    expect: Annotated[str, typer.Option(help="The document: its id, title or file.")],
    audience: Annotated[Audience, typer.Option(help="Audience of whom asked.")] = "internal",
    jurisdiction: Annotated[str | None, typer.Option(help="The only jurisdiction that was searched.")] = None,
    top_k: Annotated[int | None, typer.Option(min=1, max=100, help="Number of passages to retrieve.")] = None,
) -> None:
    """Say where an answer lost a document that should be in it, and what brings it back."""
    from app.wings.knowledge.why import why

    options: dict[str, Any] = {"audience": audience, "jurisdiction": jurisdiction, "top_k": top_k}
    reason = why(check_question(question), expect, service_to_ask(), **options)
    show(f"{reason.place}: {reason.why}")
    if reason.change:
        show(f"To bring it back: {reason.change}")


def recall(
    ask: Annotated[bool, typer.Option("--ask", help="Ask each question again, and compare the answers.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="Most answers to show; the newest.")] = 100,
) -> None:
    """List the answers that rest on words which changed or vanished."""
    from app.wings.knowledge.answer_log import can_recall, open_answers
    from app.wings.knowledge.recall import check, count_recalled, recalled, summary_of

    services = service_to_ask()
    if not can_recall(services.settings):
        raise ConfigurationError("recall needs ANSWER_LOG_DAYS and an index of its own, without RETRIEVAL_URL")
    store = open_answers(services.settings)
    check(store, services.index.current())
    answers = recalled(store, services.index.current(), limit=limit)
    entries = [answer.entry() | (_again(answer.answer, services) if ask else {}) for answer in answers]
    number = count_recalled(store)
    if json:
        show(as_json({"days": store.days, "recalled": number, "answers": entries}))
        return
    for entry in entries:
        who = f"{entry['asker'] or 'anonymous'}, {entry['audience']}"
        show(f"{entry['asked_at']}  {one_line(entry['question'] or 'a question that was not kept')}  ({who})")
        for change in entry["changes"]:
            now = f"  + {one_line(change['new'])}" if change["new"] else "  (vanished)"
            show(f"  - {one_line(change['old'])}  [{change['title']}]\n{now}")
        if entry.get("same") is not None:
            verdict = "the same answer" if entry["same"] else f"another answer: {one_line(entry['answer_now'])}"
            show(f"  asked again: {verdict}")
        show("")
    show(f"{summary_of(number, store.days)}." + (f" The newest {limit} are shown." if number > limit else ""))


def _again(answer: "LoggedAnswer", services: "Service") -> dict[str, Any]:
    """Return the answer of now, and whether it is the same; nothing where question or answer were not kept."""
    from app.wings.knowledge.recall import tokens_of

    question, proof = answer.search_query or answer.question, answer.certificate
    if not question or not proof:
        return {"same": None}
    asked: Any = {"question": question} | ({"language": answer.language} if answer.language else {})
    now = services.chain.invoke(asked, {"configurable": {"audience": answer.audience}})
    same = tokens_of(now["answer"]) == tokens_of(proof["answer"])
    return {"same": same, "answer": proof["answer"], "answer_now": now["answer"], "outcome_now": now["outcome"]}


def forget(user: Annotated[str, typer.Argument(help="The user's id, as sessions or keys name it.")]) -> None:
    """Delete a user's answers and feedback from the log of answers, for good."""
    from app.wings.knowledge.answer_log import open_answers

    answers = open_answers(read_settings())
    forgotten = answers.forget(user)
    show(f"Deleted {forgotten} answers of {one_line(user)!r} from {answers.database.place}.")


def insights(
    folder: Annotated[
        Path | None, typer.Argument(help="Folder of your documents, which the index has to hold.", exists=True)
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    since: Annotated[str, typer.Option(help="How far back: days or weeks, like 30d or 8w.")] = "30d",
    draft: Annotated[
        tuple[int, Path] | None,
        typer.Option(metavar="N FOLDER", help="Write a document and its test for the N-th group of questions."),
    ] = None,
) -> None:
    """Say what to write next: questions without a sure answer by meaning, the use of documents, the share answered."""
    from app.ledger.answers import DAY_S
    from app.wings.knowledge.answer_log import open_answers
    from app.wings.knowledge.insights import draft as write_draft
    from app.wings.knowledge.insights import insights as insights_of
    from app.wings.knowledge.insights import report_lines
    from app.wiring.library import folder_of

    if not (period := re.fullmatch(r"(\d{1,4})([dw])", since)):
        raise ConfigurationError(f"--since {since!r} is no number of days or weeks; write 30d or 8w")
    days = int(period[1]) * {"d": 1, "w": 7}[period[2]]
    services = service_to_ask(read_settings())
    is_here = folder and not services.settings.retrieval.url
    if folder and is_here and str(folder_of(folder)) not in services.index.current().scopes():
        msg = f"the index holds nothing of {folder}; run `waypoint ingest {folder}`, or set its CHROMA_PATH"
        raise ConfigurationError(msg)
    store = open_answers(services.settings)
    found = insights_of(store, services, since=store.now() - days * DAY_S)
    if draft is not None:
        number, folder = draft
        if not 0 < number <= len(found.gaps):
            msg = f"--draft {number}: there are {len(found.gaps)} groups of questions without a sure answer"
            raise ConfigurationError(msg)
        for file in write_draft(found.gaps[number - 1], folder):
            show(f"Wrote {file}")
    elif json:
        show(as_json(asdict(found)))
    else:
        for line in report_lines(found):
            show(line)


def lint(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Folders of documents, or documents. Default: this folder.", exists=True),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    max_age_days: Annotated[
        int, typer.Option(min=0, help="Days since `last_updated` after which a document is old; 0: only `review_by`.")
    ] = 0,
    fail_on: Annotated[
        Literal["error", "warning", "never"], typer.Option(help="Exit with 1 if there is a finding of this level.")
    ] = "error",
) -> None:
    """Find contradictions, old documents, duplicates, broken links and passages that no question reaches."""
    from app.wings.knowledge.findings import read_and_lint

    with progress_bar("Reading") as progress:
        settings = read_settings()
        documents, findings = read_and_lint(paths or [Path()], settings, progress, max_age_days=max_age_days)
    if json:
        show(as_json([asdict(finding) | {"level": finding.level} for finding in findings]))
    for finding in () if json else findings:
        show(str(finding))
    levels = Counter(finding.level for finding in findings)
    counts = {"document": len(documents), "error": levels["error"], "warning": levels["warning"]}
    read, *found = (f"{number:,} {name}{'s' * (number != 1)}" for name, number in counts.items())
    complain(f"{read}: {', '.join(found)}")
    if levels["error"] * (fail_on != "never") + levels["warning"] * (fail_on == "warning"):
        raise typer.Exit(1)
