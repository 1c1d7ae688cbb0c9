"""Keep a question set as a dataset on LangSmith, and a run of it as an experiment there, by langsmith's `evaluate`."""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from langsmith import Client, evaluate
from langsmith.schemas import Dataset, Example, Run
from langsmith.utils import LangSmithError
from pydantic import SecretStr

from chains.errors import WaypointError

Values = Mapping[str, Any]
"""A question has `inputs`, `outputs` and `metadata` with the `id` by which it is found again."""


class Experiments:
    """Datasets and experiments on a LangSmith server."""

    def __init__(self, *, api_url: str, api_key: SecretStr) -> None:
        self._client = Client(api_url, api_key=api_key.get_secret_value())

    def run(
        self,
        dataset: str,
        questions: Sequence[Values],
        *,
        ask: Callable[[str], dict[str, Any]],
        score: Callable[[str], Mapping[str, float]],
        metadata: Values,
    ) -> str:
        """Ask every question as a run of a new experiment over the dataset, and return the experiment's name.

        The dataset is made where there is none; what changed in the questions is changed in it. `ask` takes the id of a
        question and returns what the run has for outputs, `score` takes one and returns the feedback of its run. Raise
        WaypointError if LangSmith cannot be reached or refuses, or `ask` failed.
        """
        failures: list[Exception] = []

        def answer(inputs: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
            if failures:  # `evaluate` notes a failure and goes on to the next question, which is not asked then.
                raise failures[0]
            try:
                return ask(metadata["id"])
            except Exception as error:
                failures.append(error)
                raise

        def rate(run: Run, example: Example) -> dict[str, Any]:
            given = {} if run.error else score((example.metadata or {})["id"])
            return {"results": [{"key": key, "score": value} for key, value in given.items()]}

        try:
            if not self._client.has_dataset(dataset_name=dataset):
                self._client.create_dataset(dataset, description="Questions of `waypoint eval`")
            examples = self._examples(self._client.read_dataset(dataset_name=dataset), questions)
            with redirect_stdout(sys.stderr):  # Figures go to stdout, and nothing else does.
                results = evaluate(
                    answer,
                    data=examples,
                    evaluators=[rate],
                    experiment_prefix=dataset,
                    metadata=dict(metadata),
                    client=self._client,
                    max_concurrency=0,  # One after the other, so that latencies are those of a question alone.
                    disable_evaluator_tracing=True,
                )
        except (LangSmithError, OSError) as error:  # Those of requests are OSErrors.
            hint = "check LANGSMITH_API_KEY and LANGSMITH_ENDPOINT"
            reason = str(error).partition("\n")[0][:200] or type(error).__name__
            raise WaypointError(f"LangSmith did not take the experiment: {reason}; {hint}") from error
        finally:
            self._client.close()
        if failures:
            raise failures[0]
        return results.experiment_name

    def _examples(self, dataset: Dataset, questions: Sequence[Values]) -> list[Example]:
        """Bring the dataset in line with the questions, and return their examples; others in it are left alone."""
        wanted = {
            uuid5(NAMESPACE_URL, f"{dataset.id}/{question['metadata']['id']}"): question for question in questions
        }
        held = {example.id: example for example in self._client.list_examples(dataset_id=dataset.id)}
        new = [
            {"id": key, "inputs": one["inputs"], "reference_outputs": one["outputs"], "metadata": one["metadata"]}
            for key, one in wanted.items()
            if key not in held
        ]
        changed = [{"id": key, **one} for key, one in wanted.items() if key in held and _differs(held[key], one)]
        if new:
            self._client.create_examples(dataset_id=dataset.id, examples=new)
        if changed:
            self._client.update_examples(dataset_id=dataset.id, updates=changed)
        known = {example.id: example for example in self._client.list_examples(dataset_id=dataset.id)}
        return [known[key] for key in wanted]


def _differs(held: Example, wanted: Values) -> bool:
    known = held.metadata or {}  # LangSmith adds entries of its own.
    metadata = {name: known.get(name) for name in wanted["metadata"]}
    return (held.inputs, held.outputs, metadata) != (wanted["inputs"], wanted["outputs"], wanted["metadata"])
