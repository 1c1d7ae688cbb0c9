"""Send the runs of a call and users' scores of its answer to LangSmith; keep question sets and experiments there.

LangChain's own tracer sends the parts of a trace as they happen, in the caller's thread, and keeps the process alive
until the backend has taken them. This one delivers the runs of a call once, when it has ended, to a background export.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from functools import cached_property
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from langchain_core.documents import Document
from langchain_core.runnables import RunnableConfig
from langchain_core.tracers import LangChainTracer
from langchain_core.tracers.context import tracing_v2_callback_var
from langchain_core.tracers.schemas import Run
from langsmith import Client, evaluate, get_current_run_tree
from langsmith.schemas import Dataset, Example
from langsmith.utils import LangSmithError, LangSmithRetry
from pydantic import SecretStr

from chains.errors import ConfigurationError, WaypointError
from chains.stage import PLACE, brief

Trace = list[Run]
RETRIED = (429, 500, 502, 503, 504)
SCORE = "user_score"  # The key of the feedback.
_LEFT_OUT = {"child_runs", "parent_run", "ls_client", "inputs", "outputs", "serialized"}
_PLACE = (*PLACE, "title", "score", "rank")


class CallTracer(LangChainTracer):
    """Collects the runs of one call, and delivers them when it has ended.

    It is a LangChainTracer so that LangChain adds none of its own where the environment asks for tracing.
    """

    def __init__(self, client: Client, project: str, deliver: Callable[[Trace], None], **options: Any) -> None:
        super().__init__(client=client, project_name=project, **options)
        self._deliver = deliver
        self._runs: Trace = []

    def copy_with_metadata_defaults(self, **defaults: Any) -> "CallTracer":
        """Return itself: a copy would collect apart."""
        return self

    def _start_trace(self, run: Run) -> None:
        super()._start_trace(run)
        self._runs.append(run)

    def _persist_run_single(self, run: Run) -> None:
        """Send nothing yet."""

    @staticmethod
    def _update_run_single(run: Run) -> None:
        """Send nothing yet."""

    def _persist_run(self, run: Run) -> None:
        """Deliver the runs: this one, which has ended, is their root; outcome, confidence and model stand on it."""
        runs, self._runs, answer = self._runs, [], run.outputs or {}
        if "outcome" in answer:
            metadata, confidence = answer.get("metadata") or {}, answer.get("confidence") or {}
            described = {"outcome": answer["outcome"], "confidence": confidence.get("level")}
            described |= {name: metadata.get(name) for name in ("model", "cache")}
            run.extra = {**run.extra, "metadata": {**(run.extra.get("metadata") or {}), **described}}
            run.tags = [*(run.tags or []), str(answer["outcome"])]
        if run.outputs and any(child.run_type == "retriever" for child in runs):
            _shorten(run, runs)
        self._deliver(runs)


def _shorten(root: Run, runs: Trace) -> None:
    """Keep the words of passages in the searches, with their places, and what an answer holds in the root alone."""
    root.outputs = answer = brief(root.outputs)
    for run in runs:
        outputs = run.outputs or {}
        if run.run_type == "retriever":
            passages = []
            for document in outputs.get("documents") or []:
                place = {name: document.metadata[name] for name in _PLACE if document.metadata.get(name) is not None}
                passages.append(Document(document.page_content, metadata=place))
            run.outputs = {"documents": passages}
        elif run.parent_run_id == root.id:
            same = {name for name, value in outputs.items() if value and value == answer.get(name)}
            run.outputs = {name: f"see {root.name}" if name in same else value for name, value in outputs.items()}


class LangSmith:
    """A project on a LangSmith server, to which traces are sent, without words where it `hides` them."""

    def __init__(self, *, api_url: str, api_key: SecretStr | None, project: str, hides: bool = False) -> None:
        self.project, self.hides = project, hides
        self._failure: Exception | None = None
        try:
            self.client = Client(
                api_url,
                api_key=api_key.get_secret_value() if api_key else "",
                hide_inputs=hides,
                hide_outputs=hides,
                auto_batch_tracing=False,  # Its threads keep the process alive for as long as the backend takes.
                retry_config=LangSmithRetry(2, connect=0, read=0, backoff_factor=0.5, status_forcelist=RETRIED),
                tracing_mode="langsmith",
                omit_traced_runtime_info=True,
                tracing_error_callback=lambda error: setattr(self, "_failure", error),
            )
        except LangSmithError as error:
            msg = f"LangSmith's client cannot be set up: {error}; check the LANGSMITH_ variables"
            raise ConfigurationError(msg) from error

    def callbacks(self, config: RunnableConfig, deliver: Callable[[Trace], None]) -> RunnableConfig:
        """Return the config that traces a call, or nothing where the caller traces it."""
        given = config.get("callbacks") or []
        handlers = given if isinstance(given, list) else given.handlers
        is_traced = any(isinstance(handler, LangChainTracer) for handler in handlers)
        if is_traced or tracing_v2_callback_var.get() is not None or get_current_run_tree() is not None:
            return {}
        return {"callbacks": [CallTracer(self.client, self.project, deliver)]}

    def send(self, traces: list[Trace]) -> None:
        """Send traces in one request. Raise Exception if they did not arrive."""
        self._failure = None
        self.client.multipart_ingest(create=[self._row(run) for trace in traces for run in trace])
        if self._failure is not None:
            raise self._failure

    def send_scores(self, scores: list[dict[str, Any]]) -> None:
        """Send users' scores as feedback, a request for each. Raise Exception if one did not arrive."""
        for score in scores:
            self.client.create_feedback(key=SCORE, session_id=self._project_id, stop_after_attempt=3, **score)

    @cached_property
    def _project_id(self) -> UUID:
        found: UUID = self.client.read_project(project_name=self.project).id
        return found

    def probe(self) -> None:
        """Ask the server for one project. Raise Exception if it cannot be reached, or refuses the key."""
        next(self.client.list_projects(limit=1), None)

    def close(self) -> None:
        self.client.session.close()

    def _row(self, run: Run) -> dict[str, Any]:
        row = run.model_dump(exclude=_LEFT_OUT, exclude_none=True)
        if run.run_type != "llm":
            row.pop("events", None)  # They repeat the times; those of a model hold the time of the first token.
        if self.hides and run.error:
            row["error"] = run.error.partition("(")[0]  # The rest may hold what is to be hidden.
        return row | {"inputs": run.inputs or {}, "outputs": run.outputs}


Values = Mapping[str, Any]
"""A question has `inputs`, `outputs` and `metadata` with the `id` by which it is found again."""


class Experiments:
    """Question sets as datasets on a LangSmith server, and runs of them as experiments there, by `evaluate`."""

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
        present = {example.id: example for example in self._client.list_examples(dataset_id=dataset.id)}
        new = [
            {"id": key, "inputs": one["inputs"], "reference_outputs": one["outputs"], "metadata": one["metadata"]}
            for key, one in wanted.items()
            if key not in present
        ]
        changed = [{"id": key, **one} for key, one in wanted.items() if key in present and _differs(present[key], one)]
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
