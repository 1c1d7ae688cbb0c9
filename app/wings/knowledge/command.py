"""`waypoint verify`, `why`, `forget` and `insights`: check answers, explain them, delete them, and learn from them."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from app import hooks
from app.cli.rendering import as_json, complain, show
from app.wings.knowledge.verification import Document, Reader, UnreadableError, Verdict, verify
from chains.audience import Audience
from chains.errors import ConfigurationError, IngestionError, WaypointError
from chains.ingestion.text_files import LOADERS
from chains.question import check_question
from chains.regular_files import read_bytes, read_text
from chains.text.letters import one_line


def verify_proof(
    file: Annotated[
        Path,
        typer.Argument(
            help="What `waypoint ask --proof FILE` wrote, or POST /api/certificate answered.", show_default=False
        ),
    ],
    documents: Annotated[
        Path | None,
        typer.Option(help="Folder of the documents: are the quotes still there?", exists=True, file_okay=False),
    ] = None,
) -> None:
    """Check the proof of an answer, without network, model or index; exit 1 if a sentence fails."""
    try:
        certificate = json.loads(read_text(file))
    except (IngestionError, RecursionError, ValueError) as error:
        msg = f"{file} cannot be read as a certificate: {error}"
        raise ConfigurationError(msg) from error
    reader = _reader(documents) if documents else None
    verdicts = verify(certificate, reader)
    for verdict in verdicts:
        show(_line(verdict))
    proven = sum(verdict.rule is not None for verdict in verdicts)
    failed = sum(verdict.failure is not None for verdict in verdicts)
    show(f"\n{proven} proven, {len(verdicts) - proven - failed} unproven, {failed} failed.")
    if not documents:
        complain("The quotes themselves were not looked up: --documents FOLDER does.")
    if failed:
        raise typer.Exit(1)


def _line(verdict: Verdict) -> str:
    word = "FAILED  " if verdict.failure else "proven  " if verdict.rule else "unproven"
    why = verdict.failure or verdict.rule or "words alone do not prove it"
    reasons = "; ".join(filter(None, (why, verdict.note)))
    return f"{word}  {one_line(verdict.sentence) or 'the certificate'}\n          {one_line(reasons)}"


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
    question: Annotated[str, typer.Argument(help="The question, in quotes.", show_default=False)],
    expect: Annotated[str, typer.Option(help="The document: its id, title or file.", show_default=False)],
    audience: Annotated[Audience, typer.Option(help="Audience of whom asked.")] = "internal",
    jurisdiction: Annotated[
        str | None, typer.Option(help="The only jurisdiction that was searched.", show_default=False)
    ] = None,
    top_k: Annotated[int | None, typer.Option(min=1, max=100, help="Number of passages to retrieve.")] = None,
) -> None:
    """Say where an answer lost a document that should be in it, and what brings it back."""
    from app.cli.ingest import service_to_ask
    from app.wings.knowledge.why import lines, why

    asked = check_question(question)
    options: dict[str, Any] = {"audience": audience, "jurisdiction": jurisdiction, "top_k": top_k}
    for line in lines(why(asked, expect, service_to_ask(), **options)):
        show(line)


def forget(
    user: Annotated[str, typer.Argument(help="The user's id, as sessions or keys name it.", show_default=False)],
) -> None:
    """Delete a user's answers and feedback from the log of answers, for good."""
    from app.cli.ingest import read_settings
    from app.wings.knowledge.answer_log import open_answers

    answers = open_answers(read_settings())
    forgotten = answers.forget(user)
    show(f"Deleted {forgotten} answers of {one_line(user)!r} from {answers.database.place}.")


def insights(
    folder: Annotated[
        Path | None,
        typer.Argument(help="Folder of your documents, which the index has to hold.", exists=True, show_default=False),
    ] = None,
    json_out: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    since: Annotated[str, typer.Option(help="How far back: days or weeks, like 30d or 8w.")] = "30d",
    draft: Annotated[
        tuple[int, Path] | None,
        typer.Option(metavar="N FOLDER", help="Write a document and its test for the N-th group of questions."),
    ] = None,
) -> None:
    """Say what to write next: questions without a sure answer by meaning, the use of documents, the share answered."""
    from app.cli.ingest import read_settings, service_to_ask
    from app.wings.knowledge.answer_log import open_answers
    from app.wings.knowledge.drafts import draft as write_draft
    from app.wings.knowledge.insights import insights as insights_of
    from app.wings.knowledge.insights import report_lines
    from app.wiring.scope import folder_of

    seconds = _seconds(since)
    services = service_to_ask(read_settings())
    if (
        folder
        and not services.settings.retrieval.url
        and str(folder_of(folder)) not in services.index.current().scopes()
    ):
        msg = f"the index holds nothing of {folder}; run `waypoint ingest {folder}`, or set its CHROMA_PATH"
        raise ConfigurationError(msg)
    store = open_answers(services.settings)
    found = insights_of(store, services, since=store.now() - seconds)
    if draft is not None:
        number, folder = draft
        if not 0 < number <= len(found.gaps):
            msg = f"--draft {number}: there are {len(found.gaps)} groups of questions without a sure answer"
            raise ConfigurationError(msg)
        for file in write_draft(found.gaps[number - 1], folder):
            show(f"Wrote {file}")
    elif json_out:
        show(as_json(asdict(found)))
    else:
        for line in report_lines(found):
            show(line)


def _seconds(since: str) -> float:
    """Return how many seconds a number of days or weeks is."""
    if not (found := re.fullmatch(r"(\d{1,4})([dw])", since)):
        msg = f"--since {since!r} is no number of days or weeks; write 30d or 8w"
        raise ConfigurationError(msg)
    return int(found[1]) * {"d": 1, "w": 7}[found[2]] * 86_400.0
