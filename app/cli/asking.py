"""Ask an evaluation's questions, certify the confidence, and measure the safety checks, for `waypoint eval`."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.rendering import complain, progress_bar, show
from app.settings import Settings
from chains.errors import ConfigurationError, WaypointError

if TYPE_CHECKING:
    from app.adapters.tracing.experiments import Experiments
    from app.wiring import Services
    from evals.metrics import Judged
    from evals.questions import Case
    from evals.rows import Row


class Asking:
    """How the questions are asked; what the settings do not allow is refused first.

    Raises:
        ConfigurationError: a judge without a language model, or an experiment without a LangSmith key.
    """

    def __init__(self, settings: Settings, *, judge: bool, dataset: str | None) -> None:
        if judge and settings.provider == "offline":
            msg = "--judge needs a language model: set LLM_API_KEY"
            raise ConfigurationError(msg)
        self._settings, self._judge, self._dataset = settings, judge, dataset
        self._experiments: Experiments | None = None
        if dataset:
            from app.wiring.observability import experiments_of

            self._experiments = experiments_of(settings)

    def rows(
        self, services: "Services", cases: Sequence["Case"], out: Path | None, *, facts: Mapping[str, object]
    ) -> list["Row"]:
        """Return a row for each question; each is written at once, so that an interrupted run is not lost."""
        from evals.output import rows_file
        from evals.rows import FAILED

        ask = self._ask(services)
        done: dict[str, Row] = {}
        with progress_bar("Asking") as progress, rows_file(out) as write:

            def answered(case: "Case") -> "Row":
                row = done[case.id] = ask(case)
                write(row)
                progress(len(done), len(cases), case.id)
                return row

            self._all(cases, answered, facts)
        if failed := [case_id for case_id, row in done.items() if row["outcome"] == FAILED]:
            complain(f"{len(failed)} questions failed, and count as wrong: {', '.join(failed)}; the log says why.")
            if len(failed) == len(cases):
                msg = "every question failed: nothing was measured"
                raise WaypointError(msg)
        return [done[case.id] for case in cases]

    def _ask(self, services: "Services") -> Callable[["Case"], "Row"]:
        from evals.rows import ask

        if not self._judge:
            return partial(ask, services.chain)
        import prompts
        from evals.judge import Judge

        model = services.model.bind(temperature=0)
        judge = Judge(model, prompts.load("judge", self._settings.prompt.folder))
        return lambda case: judge.judged(case, ask(services.chain, case))

    def _all(self, cases: Sequence["Case"], answered: Callable[["Case"], "Row"], facts: Mapping[str, object]) -> None:
        if self._experiments is None:
            for case in cases:
                answered(case)
            return
        name = _run_experiment(self._experiments, str(self._dataset), cases, answered, facts)
        complain(f"LangSmith: the run is the experiment {name!r} of the dataset {self._dataset!r}.")


def _run_experiment(
    experiments: "Experiments",
    dataset: str,
    cases: Sequence["Case"],
    answered: Callable[["Case"], "Row"],
    facts: Mapping[str, object],
) -> str:
    from evals.experiment import example_of, outputs_of, scores_of

    by_id = {case.id: case for case in cases}
    rows: dict[str, Row] = {}

    def ask(case_id: str) -> dict[str, Any]:
        rows[case_id] = answered(by_id[case_id])
        return outputs_of(rows[case_id])

    return experiments.run(
        dataset,
        [example_of(case) for case in cases],
        ask=ask,
        score=lambda case_id: scores_of(by_id[case_id], rows[case_id]),
        metadata=facts,
    )


def evaluate_safety(injection: Path | None, pii: Path | None, json_out: Path | None) -> None:
    """Measure the safety checks on labelled files, and print the figures.

    Raises:
        ConfigurationError: no file is given.
        WaypointError: a file cannot be read.
    """
    from app import hooks
    from app.wiring.chain import THRESHOLDS
    from evals.output import write_page
    from evals.safety import measure_injection, measure_pii, read_labelled, summary

    if injection is None and pii is None:
        msg = "give labelled texts: `waypoint eval safety --injection FILE --pii FILE`"
        raise ConfigurationError(msg)
    found: dict[str, Any] = {}
    if injection is not None:
        rows = read_labelled(injection, "prompt", "label")
        found["injection"] = measure_injection(rows, hooks.load("checks", "injection")().question, THRESHOLDS.guard)
    if pii is not None:
        found["pii"] = measure_pii(read_labelled(pii, "full_text", "spans"), hooks.load("checks", "pii_entities"))
    show(summary(found))
    if json_out is not None:
        write_page(json_out, json.dumps(found, indent=2) + "\n")


def check_certifiable(settings: Settings) -> None:
    """Refuse settings whose confidence has nothing to certify.

    Raises:
        ConfigurationError: it is turned off or not calibrated, or the documents are at another service.
    """
    if not settings.confidence.enabled or settings.confidence.strategy != "calibrated":
        msg = "--certify needs CONFIDENCE_ENABLED=true and CONFIDENCE_STRATEGY=calibrated"
        raise ConfigurationError(msg)
    if settings.retrieval.url:
        msg = "--certify needs an index of its own: RETRIEVAL_URL asks another service, whose documents may change"
        raise ConfigurationError(msg)


def certify_high(services: "Services", cases: Sequence["Case"], rows: Sequence["Row"]) -> None:
    """Certify the threshold of the high level on the answers given, print it, and keep it.

    Raises:
        WaypointError: no threshold can be certified; the message says how many questions are needed.
    """
    from evals.certify import CONFIDENCE, WRONG_AT_MOST, certify, upper_bound
    from evals.metrics import judgements
    from evals.rows import pairs_of

    judged = judgements(pairs_of(cases, rows))
    found = certify(judged, above=services.settings.confidence.medium_threshold)
    if found is None or services.certification is None:
        raise WaypointError(_refusal(judged, len(cases)))
    bound = upper_bound(found.wrong, found.kept, CONFIDENCE)
    services.certification.keep(
        threshold=found.threshold,
        wrong_at_most=WRONG_AT_MOST,
        confidence=CONFIDENCE,
        questions=len(cases),
        answers=len(judged),
        kept=found.kept,
        wrong=found.wrong,
        bound=round(bound, 4),
        models={row["model"] for row in rows if row["model"]},
    )
    reach = f"{found.kept} of {len(judged)} answers reach it, {found.wrong} of them wrong"
    show(f"\nHigh is certified from a score of {found.threshold:g} on: {reach}.")
    show(f"At most {100 * bound:.1f} % of such answers are wrong, with {100 * CONFIDENCE:.0f} % confidence.")
    show(f"Written to {services.certification.file}; it holds while index, model, prompts and settings stay the same.")


def _refusal(judged: "Judged", questions: int) -> str:
    """Return why nothing is certified, and how many questions would do."""
    from evals.certify import CONFIDENCE, WRONG_AT_MOST, least_kept, times_needed

    right = sum(right for _, right in judged)
    promise = f"at most {100 * WRONG_AT_MOST:.0f} % wrong, with {100 * CONFIDENCE:.0f} % confidence"
    least = f"needs {least_kept(WRONG_AT_MOST, CONFIDENCE)} answers with high scores and none of them wrong, or more"
    failure = f"no score is certified: {promise}, {least}; of {len(judged)} answers {right} are right"
    if (times := times_needed(judged)) is None:
        return f"{failure}. More questions would not do: among the answers with the highest scores too many are wrong"
    return f"{failure}. About {math.ceil(times * questions)} questions like these are needed, not {questions}"
