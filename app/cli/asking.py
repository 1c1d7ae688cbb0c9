"""Ask an evaluation's questions: through the chain, with a judge, as a LangSmith experiment."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import prompts
from app.cli.rendering import complain, progress_bar
from app.settings import Settings
from chains.errors import ConfigurationError

if TYPE_CHECKING:
    from app.adapters.tracing.experiments import Experiments
    from app.wiring import Services
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
        self._experiments = _experiments(settings) if dataset else None

    def rows(
        self, services: "Services", cases: Sequence["Case"], out: Path | None, *, facts: Mapping[str, object]
    ) -> list["Row"]:
        """Return a row for each question; each is written at once, so that an interrupted run is not lost."""
        from evals.output import rows_file

        ask = self._ask(services)
        done: dict[str, Row] = {}
        with progress_bar("Asking") as progress, rows_file(out) as write:

            def answered(case: "Case") -> "Row":
                row = done[case.id] = ask(case)
                write(row)
                progress(len(done), len(cases), case.id)
                return row

            self._all(cases, answered, facts)
        return [done[case.id] for case in cases]

    def _ask(self, services: "Services") -> Callable[["Case"], "Row"]:
        from evals.rows import ask

        if not self._judge:
            return partial(ask, services.chain)
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


def _experiments(settings: Settings) -> "Experiments":
    from app.wiring.observability import experiments_of

    return experiments_of(settings)


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
