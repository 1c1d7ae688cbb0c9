"""Words on a command line -> answers, an index, a service. The only place that prints.

Exit codes: 0 done; 1 the work failed; 2 bad usage or settings.
"""

import gc
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from app.settings import SettingsError, load_settings
from chains.errors import ConfigurationError, IngestionError, QuestionError, WaypointError

FAILED, BAD_USAGE = 1, 2
# What a measurement depends on and a report tells; no secret among it.
MEASURED = {
    *("retriever_type", "retrieval_top_k", "relevance_threshold", "max_context_tokens", "scope_enabled"),
    *("embedding_model", "chunk_size", "citation_style", "llm_provider", "llm_model"),
}

app = typer.Typer(
    name="waypoint",
    help="Answer questions from your own documents, with citations that can be checked.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _prepare() -> None:
    from app.observability.logs import configure_logs

    configure_logs("warning")  # Answers go to stdout and nothing else does; `serve` has a level of its own.


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question, in quotes.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole answer object.")] = False,
    top_k: Annotated[int | None, typer.Option(min=1, max=100, help="How many passages to retrieve.")] = None,
    threshold: Annotated[float | None, typer.Option(min=0, max=1, help="The least similarity of a passage.")] = None,
) -> None:
    """Answer one question. On an empty index the sample corpus is ingested first."""
    gc.disable()  # The process lives for seconds: collecting what the imports leave would only delay the answer.
    from app.cli.rendering import answer_text
    from app.wiring import Services
    from chains.state import Question, check_question

    asked = Question(question=check_question(question))
    if top_k is not None:
        asked["top_k"] = top_k
    if threshold is not None:
        asked["threshold"] = threshold
    services = Services(load_settings())
    if services.count() == 0:
        _ingest_sample(services)
    if as_json:
        print(json.dumps(services.chain.invoke(asked), ensure_ascii=False, indent=2))
    else:
        for text in answer_text(services.chain.stream(asked)):
            print(text, end="", flush=True)


@app.command()
def ingest(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATH ...]", help="Folders or files; by default the sample corpus.", show_default=False
        ),
    ] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Rebuild the index from nothing.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change, and change nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Bring the index in line with the files: only what changed is embedded again, what vanished is removed."""
    from app.cli.rendering import problem_lines, progress_bar, report_text
    from app.wiring import Services, sample_corpus

    services = Services(load_settings())
    with progress_bar() as progress:
        report = services.ingest(paths or [sample_corpus()], reset=reset, dry_run=dry_run, progress=progress)
    for line in problem_lines(report):
        print(line, file=sys.stderr)
    if as_json:
        print(json.dumps(asdict(report), ensure_ascii=False, indent=2))
    else:
        print(report_text(report))
    if report.problems:
        raise typer.Exit(FAILED)


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="The port; by default PORT, 3000.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="How many processes answer.")] = 1,
) -> None:
    """Serve the HTTP API: POST /api/query and /chat, LangServe at /copilot, all described at /docs."""
    from app.http.process import check_workers
    from app.http.process import serve as serve_until_drained
    from app.observability.logs import configure_logs
    from app.wiring import Services
    from app.wiring.access import check_door

    settings = load_settings()
    check_door(settings, host)
    check_workers(settings, workers)
    configure_logs(settings.log_level, settings.log_format)
    services = Services(settings)
    if services.count() == 0:
        _ingest_sample(services)
    serve_until_drained(services, host=host, port=port or settings.port, workers=workers)


@app.command(name="eval")
def evaluate(
    questions: Annotated[
        Path, typer.Argument(metavar="QUESTIONS.jsonl", help="Questions, a JSON object a line.", show_default=False)
    ],
    json_out: Annotated[Path | None, typer.Option("--json", help="Write a row for each question (JSON lines).")] = None,
    report: Annotated[Path | None, typer.Option(help="A folder; report.html with plots is written there.")] = None,
) -> None:
    """Run a set of questions through the chain of these settings, and print the metrics."""
    from app.cli.rendering import progress_bar
    from app.wiring import Services
    from evals.metrics import evaluate as measure
    from evals.output import rows_file, write_page
    from evals.questions import read_questions
    from evals.report import html_report, table_text
    from evals.rows import ask_all

    cases = read_questions(questions)
    services = Services(load_settings())
    if services.count() == 0:
        _ingest_sample(services)
    rows = []
    with progress_bar("Asking") as progress, rows_file(json_out) as write:
        for row in ask_all(services.chain, cases, progress=progress):
            write(row)
            rows.append(row)
    print(table_text(measure(cases, rows)))
    if report is not None:
        facts = {
            "questions": questions.name,
            "chunks": services.count(),
            **services.settings.model_dump(include=MEASURED),
        }
        write_page(report / "report.html", html_report(cases, rows, facts=facts))


def _ingest_sample(services: Any) -> None:
    from app.cli.rendering import progress_bar
    from app.wiring import sample_corpus

    print("The index is empty: ingesting the sample corpus first.", file=sys.stderr)
    with progress_bar() as progress:
        report = services.ingest([sample_corpus()], progress=progress)
    print(f"Ingested {report.files} files, {report.chunks} chunks in {report.seconds:.1f} s.", file=sys.stderr)


@contextmanager
def _errors_explained() -> Iterator[None]:
    try:
        yield
    except (SettingsError, ConfigurationError, IngestionError, QuestionError) as error:
        _fail(error, BAD_USAGE)
    except WaypointError as error:
        _fail(error, FAILED)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()


def _fail(error: Exception, code: int) -> None:
    print(f"waypoint: {error}", file=sys.stderr)
    sys.exit(code)


def main() -> None:
    """Run the command line."""
    with _errors_explained():
        app(prog_name="waypoint")
