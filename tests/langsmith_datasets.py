"""What a LangSmith server keeps of datasets and experiments, as far as langsmith's `evaluate` asks for it."""

import email
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

TENANT = "00000000-0000-0000-0000-00000000000a"
DATASET = "00000000-0000-0000-0000-0000000000d1"
THEN = "2026-01-01T00:00:00+00:00"
INFO = {"version": "0.9.0", "instance_flags": {"dataset_examples_multipart_enabled": True}}


@dataclass
class Datasets:
    """Datasets by name, their examples by id, experiments by id, feedback in the order in which it came."""

    datasets: dict[str, dict[str, Any]] = field(default_factory=dict)
    examples: dict[str, dict[str, Any]] = field(default_factory=dict)
    experiments: dict[str, dict[str, Any]] = field(default_factory=dict)
    feedback: list[dict[str, Any]] = field(default_factory=list)
    uploads: list[tuple[str, int]] = field(default_factory=list)

    def reply(self, method: str, target: str, kind: str, body: bytes) -> Any:
        """Return what the server says to a request; None where this part of it is not asked."""
        url = urlsplit(target)
        path = url.path.strip("/").split("/")
        if path[-1] == "examples" and method != "GET":
            return self._take_examples(method, kind, body)
        if method == "PATCH" and path[0] == "sessions":
            self.experiments[path[1]] |= {name: value for name, value in json.loads(body).items() if value is not None}
            return self.experiments[path[1]]
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        answers: dict[tuple[str, str], Callable[[], Any]] = {
            ("GET", "info"): lambda: INFO,
            ("GET", "datasets"): lambda: [one for name, one in self.datasets.items() if name == query["name"]],
            ("POST", "datasets"): lambda: self._made(json.loads(body)),
            ("GET", "examples"): lambda: list(self.examples.values()) if query.get("offset", "0") == "0" else [],
            ("GET", "sessions"): lambda: list(self.experiments.values()),
            ("POST", "sessions"): lambda: self._started(json.loads(body)),
            ("POST", "feedback"): lambda: self.feedback.append(json.loads(body)),
        }
        answer = answers.get((method, path[0]))
        return answer() if answer else None

    def scores(self, example_id: str, runs: dict[str, dict[str, Any]]) -> dict[str, float]:
        """Return the feedback of the run of an example."""
        [run] = [key for key, run in runs.items() if run.get("reference_example_id") == example_id]
        return {one["key"]: one["score"] for one in self.feedback if one["run_id"] == run}

    def _made(self, dataset: dict[str, Any]) -> dict[str, Any]:
        self.datasets[dataset["name"]] = {"id": DATASET, "created_at": THEN, **dataset}
        return self.datasets[dataset["name"]]

    def _started(self, experiment: dict[str, Any]) -> dict[str, Any]:
        self.experiments[experiment["id"]] = experiment | {"tenant_id": TENANT, "start_time": THEN}
        return self.experiments[experiment["id"]]

    def _take_examples(self, method: str, kind: str, body: bytes) -> dict[str, Any]:
        taken: set[str] = set()
        for name, value in parts(kind, body):
            example_id, *inner = name.split(".")
            example = self.examples.setdefault(
                example_id, {"id": example_id, "dataset_id": DATASET, "created_at": THEN}
            )
            example.update({inner[0]: value} if inner else value)
            taken.add(example_id)
        self.uploads.append((method, len(taken)))
        return {"example_ids": sorted(taken), "count": len(taken)}


def parts(kind: str, body: bytes) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a form by name, each of them JSON."""
    message = email.message_from_bytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
    for part in message.walk():
        if not part.is_multipart():
            content = part.get_payload(decode=True)
            value = json.loads(content if isinstance(content, bytes) else b"null")
            yield str(part.get_param("name", header="content-disposition")), value
