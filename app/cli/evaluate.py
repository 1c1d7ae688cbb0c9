"""`waypoint eval`: run a question set and print its metrics, compare runs, certify, measure the safety checks."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.ingest import read_settings, service_to_ask
from app.cli.rendering import complain, progress_bar, show
from chains.errors import ConfigurationError, WaypointError

if TYPE_CHECKING:
    from app.adapters.langsmith import Experiments
    from app.wiring import Service
    from evals.metrics import Metric
    from evals.questions import Case
    from evals.rows import Row

# The settings that affect a measurement, for the report; none is a secret.
REPORTED = {
    *("retriever_type", "retrieval_top_k", "relevance_threshold", "max_context_tokens", "scope_file"),
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
        bool | None,
        typer.Option(
            "--certify/--no-certify",
            help="Certify from which score on at most 10 % are wrong; only those are high then. Or remove that first.",
        ),
    ] = None,
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            metavar="A.jsonl B.jsonl",
            help="Compare the rows (--json) of two earlier runs, before and after, without asking.",
        ),
    ] = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC=VALUE",
            help="Exit with 1 if the metric is worse than the value; repeatable. With --compare: of the later run.",
        ),
    ] = None,
    langsmith: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Upload the questions as this LangSmith dataset and the run as an experiment (LANGSMITH_API_KEY).",
        ),
    ] = None,
    injection: Annotated[
        Path | None, typer.Option(help="For safety: prompts with labels, 1 for an attack (JSON list or lines).")
    ] = None,
    pii: Annotated[Path | None, typer.Option(help="For safety: sentences with spans of personal data.")] = None,
    judge: Annotated[
        bool, typer.Option("--judge", help="Let the language model judge which statements of an answer are supported.")
    ] = False,
) -> None:
    """Run a question set with these settings, and print the metrics."""
    from chains import STAGES
    from evals.compare import compare as compared
    from evals.compare import comparison_text
    from evals.gate import check_names, failures, read_floor
    from evals.metrics import evaluate as measure
    from evals.metrics import names_for
    from evals.questions import find_questions, read_questions
    from evals.rows import read_rows

    asking: dict[str, Any] = {"report": report, "fit": fit_out, "langsmith": langsmith, "judge": judge}
    asking["certify"] = certify
    if questions == "safety":
        excluded = asking | {"compare": compare, "fail-under": fail_under}
        _refuse("safety measures texts and prints only its table", excluded)
        _evaluate_safety(injection, pii, json_out)
        return
    path = find_questions(questions)
    cases = read_questions(path)
    if floors := [read_floor(text) for text in fail_under or []]:
        check_names(floors, names_for(cases, STAGES, with_judge=judge or compare is not None))
    if compare is not None:
        _refuse("--compare reads existing rows and asks nothing", {"json": json_out} | asking)
        before, after = (read_rows(file, {case.id for case in cases}) for file in compare)
        show(comparison_text(compared(cases, before, after), names=(str(compare[0]), str(compare[1]))))
        metrics = measure(cases, after)
    else:
        metrics = _measured(path, cases, json_out, **asking)
    if sentences := failures(floors, metrics):
        for sentence in sentences:
            complain(f"waypoint: {sentence}")
        raise typer.Exit(1)


def _refuse(why: str, options: Mapping[str, object]) -> None:
    if given := [f"--{name}" for name, value in options.items() if value]:
        raise ConfigurationError(f"{why}: leave out {', '.join(given)}")


def _measured(
    path: Path,
    cases: Sequence["Case"],
    out: Path | None,
    *,
    report: Path | None,
    fit: Path | None,
    langsmith: str | None,
    judge: bool,
    certify: bool | None,
) -> list["Metric"]:
    """Ask, measure and print, then fit, certify and report; WaypointError if settings exclude it, or all fail."""
    from evals.metrics import SAMPLES
    from evals.metrics import evaluate as measure
    from evals.output import counts_text, table_text, write_page

    settings = read_settings().replace(**(FITTING if fit else MEASURING))
    own = settings.langsmith
    if certify:
        _refuse("--certify rates by the confidence in force", {"fit": fit})
    is_calibrated = settings.confidence.enabled and settings.confidence.strategy == "calibrated"
    reasons = {
        "--certify needs CONFIDENCE_ENABLED=true and CONFIDENCE_STRATEGY=calibrated": certify and not is_calibrated,
        "--certify needs an index of its own: RETRIEVAL_URL asks another service, whose documents may change": (
            certify and settings.retrieval.url
        ),
        "--judge needs a language model: set LLM_API_KEY": judge and settings.llm.provider == "offline",
        "--langsmith needs LangSmith: set LANGSMITH_API_KEY": langsmith and own.api_key is None,
        "--langsmith sends questions and answers, which LANGSMITH_HIDE_INPUTS forbids": langsmith and own.hides,
    }
    for reason in (reason for reason, holds in reasons.items() if holds):
        raise ConfigurationError(reason)
    experiments = None
    if langsmith and own.api_key is not None:
        from app.adapters.langsmith import Experiments

        experiments = Experiments(api_url=own.endpoint, api_key=own.api_key)
    services = service_to_ask(settings)
    if certify is False and services.answerer.certification:
        services.answerer.certification.forget()
    # What the report and the experiment tell of the run.
    facts = {"questions": path.name, "chunks": services.index.current().count(), **settings.as_variables(REPORTED)}
    rows = _rows(services, cases, out, judge=judge, experiments=experiments, dataset=str(langsmith), facts=facts)
    metrics = measure(cases, rows, samples=SAMPLES)
    show(f"{counts_text(cases, rows)}\n\n{table_text(metrics)}")
    if fit is not None:
        from chains.confidence.calibrated import load_model
        from evals.fit import fit_to, labelled
        from evals.rows import pairs_of

        fitted = fit_to(labelled(pairs_of(cases, rows)), load_model(settings.confidence.model), fitted_on=path.name)
        write_page(fit, fitted.model.text())
        show(f"\n{fitted.summary}\nWritten to {fit}; use it with CONFIDENCE_MODEL={fit}")
    if certify:
        _certify_high(services, cases, rows)
    if report is not None:
        from evals.report import html_report

        models = Counter(row["model"] or "none" for row in rows).most_common()
        answered = {"model that answered": ", ".join(f"{name} ({count})" for name, count in models)}
        write_page(report / "report.html", html_report(cases, rows, facts=answered | facts, metrics=metrics))
    return metrics


def _rows(
    services: "Service",
    cases: Sequence["Case"],
    out: Path | None,
    *,
    judge: bool,
    experiments: "Experiments | None",
    dataset: str,
    facts: Mapping[str, object],
) -> list["Row"]:
    """Return a row for each question, written at once; asked in LangSmith where there are `experiments`."""
    import prompts
    from evals.experiment import example_of, outputs_of, scores_of
    from evals.judge import Judge
    from evals.output import rows_file
    from evals.rows import FAILED, ask

    by_id, done = {case.id: case for case in cases}, dict[str, "Row"]()
    judging = None
    if judge:
        judging = Judge(
            services.answerer.model().bind(temperature=0), prompts.load("judge", services.settings.prompt.folder)
        )
    with progress_bar("Asking") as progress, rows_file(out) as write:

        def answered(case_id: str) -> "Row":
            row = ask(services.chain, by_id[case_id])
            done[case_id] = judging.judged(by_id[case_id], row) if judging else row
            write(done[case_id])
            progress(len(done), len(cases), case_id)
            return done[case_id]

        if experiments is None:
            for case in cases:
                answered(case.id)
        else:
            name = experiments.run(
                dataset,
                [example_of(case) for case in cases],
                ask=lambda case_id: outputs_of(answered(case_id)),
                score=lambda case_id: scores_of(by_id[case_id], done[case_id]),
                metadata=facts,
            )
            complain(f"LangSmith: the run is the experiment {name!r} of the dataset {dataset!r}.")
    if failed := [case_id for case_id, row in done.items() if row["outcome"] == FAILED]:
        complain(f"{len(failed)} questions failed, and count as wrong: {', '.join(failed)}; the log says why.")
        if len(failed) == len(cases):
            raise WaypointError("every question failed: nothing was measured")
    return [done[case.id] for case in cases]


def _evaluate_safety(injection: Path | None, pii: Path | None, json_out: Path | None) -> None:
    """Measure the safety checks on labelled files, and print the figures; WaypointError if one cannot be read."""
    from app import hooks
    from app.wiring.chain import THRESHOLDS
    from evals.output import write_page
    from evals.safety import measure_injection, measure_pii, read_labelled, summary

    if injection is None and pii is None:
        raise ConfigurationError("give labelled texts: `waypoint eval safety --injection FILE --pii FILE`")
    found: dict[str, Any] = {}
    if injection is not None:
        rows = read_labelled(injection, "prompt", "label")
        found["injection"] = measure_injection(rows, hooks.load("checks", "injection")().question, THRESHOLDS.guard)
    if pii is not None:
        found["pii"] = measure_pii(read_labelled(pii, "full_text", "spans"), hooks.load("checks", "pii_entities"))
    show(summary(found))
    if json_out is not None:
        write_page(json_out, json.dumps(found, indent=2) + "\n")


def _certify_high(services: "Service", cases: Sequence["Case"], rows: Sequence["Row"]) -> None:
    """Certify from which score on answers are high, and keep it; WaypointError says how many questions that takes."""
    from evals.certify import CONFIDENCE, WRONG_AT_MOST, certified_text, certify, shortfall, upper_bound
    from evals.metrics import judgements
    from evals.rows import pairs_of

    judged = judgements(pairs_of(cases, rows))
    certification = services.answerer.certification
    certified = certify(judged, above=services.settings.confidence.medium_threshold)
    if certified is None or certification is None:
        raise WaypointError(shortfall(judged, questions=len(cases)))
    certification.keep(
        **asdict(certified),
        wrong_at_most=WRONG_AT_MOST,
        confidence=CONFIDENCE,
        questions=len(cases),
        answers=len(judged),
        bound=round(upper_bound(certified.wrong, certified.kept, CONFIDENCE), 4),
        models={row["model"] for row in rows if row["model"]},
    )
    show(f"\n{certified_text(certified, answers=len(judged))}")
    show("Kept in the ledger; it holds while index, model, prompts and settings stay the same.")
