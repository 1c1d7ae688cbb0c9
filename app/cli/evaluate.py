"""`waypoint eval`: a question set through the chain, and its metrics."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.ingest import open_services, read_settings
from app.cli.rendering import progress_bar, show

# The settings that a measurement depends on, for the report; none is a secret.
REPORTED = {
    *("retriever_type", "retrieval_top_k", "relevance_threshold", "max_context_tokens", "scope_enabled"),
    *("embedding_model", "chunk_size", "citation_style", "llm_provider", "llm_model"),
}
# A model is fitted to the features that the calibrated confidence puts into an answer.
FITTING = {"confidence_enabled": True, "confidence_strategy": "calibrated", "confidence_include_factors": True}


def evaluate(
    questions: Annotated[
        Path, typer.Argument(metavar="QUESTIONS.jsonl", help="Questions, a JSON object a line.", show_default=False)
    ],
    json_out: Annotated[Path | None, typer.Option("--json", help="Write a row for each question (JSON lines).")] = None,
    report: Annotated[Path | None, typer.Option(help="A folder; report.html with plots is written there.")] = None,
    fit_out: Annotated[
        Path | None, typer.Option("--fit", help="Fit the confidence to these questions; a file for CONFIDENCE_MODEL.")
    ] = None,
) -> None:
    """Run a set of questions through the chain of these settings, and print the metrics."""
    from chains.confidence import WORDS, load_model
    from evals.fit import fit_to, labelled
    from evals.metrics import SAMPLES, pairs_of
    from evals.metrics import evaluate as measure
    from evals.output import rows_file, write_page
    from evals.questions import read_questions
    from evals.report import html_report
    from evals.rows import ask_all
    from evals.table import counts_text, table_text

    cases = read_questions(questions)
    services = open_services(read_settings().model_copy(update=FITTING) if fit_out else None)
    rows = []
    with progress_bar("Asking") as progress, rows_file(json_out) as write:
        for row in ask_all(services.chain, cases, progress=progress):
            write(row)
            rows.append(row)
    metrics = measure(cases, rows, samples=SAMPLES)
    show(f"{counts_text(cases, rows)}\n\n{table_text(metrics)}")
    if fit_out is not None:
        prior = load_model(services.settings.confidence_model, WORDS)
        fitted = fit_to(labelled(pairs_of(cases, rows)), prior, fitted_on=questions.name)
        write_page(fit_out, fitted.model.text())
        show(f"\n{fitted.summary}\nWritten to {fit_out}; use it by CONFIDENCE_MODEL={fit_out}")
    if report is not None:
        reported = services.settings.model_dump(include=REPORTED)
        facts = {"questions": questions.name, "chunks": services.count(), **reported}
        write_page(report / "report.html", html_report(cases, rows, facts=facts, metrics=metrics))
