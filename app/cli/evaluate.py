"""`waypoint eval`: run a question set and print its metrics, or compare two earlier runs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.asking import certify_high, check_certifiable, evaluate_safety
from app.cli.ingest import open_services, read_settings
from app.cli.rendering import complain, show

if TYPE_CHECKING:
    from app.wiring import Services
    from evals.gate import Floor
    from evals.metrics import Metric
    from evals.questions import Case
    from evals.rows import Row

# The settings that affect a measurement, for the report; none is a secret.
REPORTED = {
    *("retriever_type", "retrieval_top_k", "relevance_threshold", "max_context_tokens", "scope_enabled"),
    *("embedding_model", "chunk_size", "citation_style", "llm_provider", "llm_model", "confidence_strategy"),
}
# Rows contain the factors of each confidence.
MEASURING = {"confidence_include_factors": True}
# Fitting needs the features that the calibrated strategy puts into an answer.
FITTING = MEASURING | {"confidence_enabled": True, "confidence_strategy": "calibrated"}


def evaluate(
    questions: Annotated[
        str,
        typer.Argument(
            metavar="QUESTIONS.jsonl",
            help="File with one JSON question per line; `sample` or `smoke`, sets on the sample corpus; or `safety`.",
            show_default=False,
        ),
    ],
    *,
    json_out: Annotated[Path | None, typer.Option("--json", help="Write a row for each question (JSON lines).")] = None,
    report: Annotated[Path | None, typer.Option(help="Folder for report.html, with plots.")] = None,
    fit_out: Annotated[
        Path | None,
        typer.Option("--fit", help="Fit the confidence to these questions into a file for CONFIDENCE_MODEL."),
    ] = None,
    certify: Annotated[
        bool,
        typer.Option("--certify", help="Certify from which score on at most 10 % are wrong; only those are high then."),
    ] = False,
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            metavar="A.jsonl B.jsonl",
            help="Compare the rows (--json) of two earlier runs, before and after, without asking.",
            show_default=False,
        ),
    ] = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC=VALUE",
            help="Exit with 1 if the metric is worse than the value; repeatable. With --compare: of the later run.",
            show_default=False,
        ),
    ] = None,
    langsmith: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Upload the questions as this LangSmith dataset and the run as an experiment (LANGSMITH_API_KEY).",
            show_default=False,
        ),
    ] = None,
    injection: Annotated[
        Path | None, typer.Option(help="For safety: prompts with labels, 1 for an attack (JSON list or lines).")
    ] = None,
    pii: Annotated[Path | None, typer.Option(help="For safety: sentences with spans of personal data.")] = None,
    judge: Annotated[
        bool,
        typer.Option("--judge", help="Let the language model judge which statements of an answer are supported."),
    ] = False,
) -> None:
    """Run a question set with these settings, and print the metrics."""
    from app.cli.asking import Asking
    from evals.gate import read_floor
    from evals.questions import find_questions, read_questions

    asking: dict[str, object] = {"--report": report, "--fit": fit_out, "--langsmith": langsmith}
    asking |= {"--judge": judge, "--certify": certify}
    if questions == "safety":
        _refuse(
            "safety measures texts and prints only its table",
            asking | {"--compare": compare, "--fail-under": fail_under},
        )
        evaluate_safety(injection, pii, json_out)
        return
    path = find_questions(questions)
    cases = read_questions(path)
    floors = [read_floor(text) for text in fail_under or []]
    _check(floors, cases, with_judge=judge or compare is not None)
    if compare is not None:
        _refuse("--compare reads existing rows and asks nothing", {"--json": json_out} | asking)
        metrics = _compared(cases, compare)
    else:
        settings = read_settings().replace(**(FITTING if fit_out else MEASURING))
        if certify:
            check_certifiable(settings)
            _refuse("--certify rates by the confidence in force", {"--fit": fit_out})
        asked = Asking(settings, judge=judge, dataset=langsmith)
        services = open_services(settings)
        rows = asked.rows(services, cases, json_out, facts=_facts(services, path.name))
        metrics = _measured(cases, rows)
        if fit_out is not None:
            _fit(services, cases, rows, fit_out, fitted_on=path.name)
        if certify:
            certify_high(services, cases, rows)
        if report is not None:
            _report(cases, rows, metrics, report, facts=_models(rows) | _facts(services, path.name))
    _hold(floors, metrics)


def _measured(cases: Sequence["Case"], rows: Sequence["Row"]) -> list["Metric"]:
    from evals.metrics import SAMPLES
    from evals.metrics import evaluate as measure
    from evals.output import counts_text, table_text

    metrics = measure(cases, rows, samples=SAMPLES)
    show(f"{counts_text(cases, rows)}\n\n{table_text(metrics)}")
    return metrics


def _compared(cases: Sequence["Case"], paths: tuple[Path, Path]) -> list["Metric"]:
    """Print what changed between two files of rows; return the metrics of the second."""
    from evals.compare import compare, comparison_text
    from evals.metrics import evaluate as measure
    from evals.rows import read_rows

    known = {case.id for case in cases}
    before, after = (read_rows(path, known) for path in paths)
    show(comparison_text(compare(cases, before, after), names=(str(paths[0]), str(paths[1]))))
    return measure(cases, after)


def _refuse(why: str, options: Mapping[str, object]) -> None:
    from chains.errors import ConfigurationError

    if given := [name for name, value in options.items() if value]:
        msg = f"{why}: leave out {', '.join(given)}"
        raise ConfigurationError(msg)


def _fit(services: "Services", cases: Sequence["Case"], rows: Sequence["Row"], out: Path, *, fitted_on: str) -> None:
    from chains.confidence import WORDS, load_model
    from evals.fit import fit_to, labelled
    from evals.output import write_page
    from evals.rows import pairs_of

    prior = load_model(services.settings.confidence.model, WORDS)
    fitted = fit_to(labelled(pairs_of(cases, rows)), prior, fitted_on=fitted_on)
    write_page(out, fitted.model.text())
    show(f"\n{fitted.summary}\nWritten to {out}; use it with CONFIDENCE_MODEL={out}")


def _facts(services: "Services", questions: str) -> dict[str, object]:
    """Return the settings of the run, for the report and the experiment."""
    return {"questions": questions, "chunks": services.store.count(), **services.settings.as_variables(REPORTED)}


def _models(rows: Sequence["Row"]) -> dict[str, object]:
    """Return which models answered how many questions; none where nothing was generated."""
    counts = Counter(row["model"] or "none" for row in rows)
    return {"model that answered": ", ".join(f"{name} ({count})" for name, count in counts.most_common())}


def _report(
    cases: Sequence["Case"],
    rows: Sequence["Row"],
    metrics: Sequence["Metric"],
    folder: Path,
    *,
    facts: Mapping[str, object],
) -> None:
    from evals.output import write_page
    from evals.report import html_report

    write_page(folder / "report.html", html_report(cases, rows, facts=facts, metrics=metrics))


def _check(floors: Sequence["Floor"], cases: Sequence["Case"], *, with_judge: bool) -> None:
    """Reject a floor for an unknown metric before anything is asked."""
    from chains import STAGES
    from evals.gate import check_names
    from evals.metrics import names_for

    if floors:
        check_names(floors, names_for(cases, STAGES, with_judge=with_judge))


def _hold(floors: Sequence["Floor"], metrics: Sequence["Metric"]) -> None:
    from evals.gate import failures

    if sentences := failures(floors, metrics):
        for sentence in sentences:
            complain(f"waypoint: {sentence}")
        raise typer.Exit(1)
