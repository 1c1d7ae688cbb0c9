"""A LangSmith server on loopback, as far as this project asks it, and an OpenTelemetry collector of the same kind."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.langsmith_datasets import Datasets, parts
from tests.loopback import Handler, listening
from tests.waiting import PATIENCE_S


@dataclass
class Backend:
    """What came in. `status` is what it answers; while `hangs` is set it answers nothing at all.

    Attributes:
        runs: The runs that LangSmith's clients sent, by id, with inputs and outputs in place.
        spans: The spans that OpenTelemetry's exporters sent.
        bodies: All that came, as it came.
        store: The datasets, experiments and feedback of LangSmith.
    """

    url: str = ""
    status: int = 200
    hangs: bool = False
    keys: set[str | None] = field(default_factory=set)
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)
    spans: list[Any] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    store: Datasets = field(default_factory=Datasets)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def wait_for(self, what: Any) -> None:
        with self.changed:
            assert self.changed.wait_for(what, timeout=PATIENCE_S), (
                f"{len(self.bodies)} requests, and not what was meant"
            )

    def root(self, **metadata: Any) -> dict[str, Any]:
        """Return the one root that has the given metadata."""
        roots = [run for run in self.runs.values() if run.get("parent_run_id") is None]
        [root] = [run for run in roots if metadata.items() <= run["extra"]["metadata"].items()]
        return root

    def children(self, run: dict[str, Any]) -> list[dict[str, Any]]:
        below = [child for child in self.runs.values() if child.get("parent_run_id") == run["id"]]
        return sorted(below, key=lambda child: child["dotted_order"])

    def take(self, path: str, kind: str, body: bytes) -> None:
        with self.changed:
            self.bodies.append(body)
            if self.status == 200 and path == "/runs/multipart":
                self._read_parts(kind, body)
            elif self.status == 200 and path == "/v1/traces":
                self.spans.extend(_read_spans(body))
            self.changed.notify_all()

    def _read_parts(self, kind: str, body: bytes) -> None:
        for name, value in parts(kind, body):
            what, key, *inner = name.split(".")
            if what == "feedback":
                self.store.feedback.append(value)
            else:
                self.runs.setdefault(key, {}).update({inner[0]: value} if inner else value)


@contextmanager
def backend() -> Iterator[Backend]:
    stub = Backend()
    closing = threading.Event()

    class Told(Handler):
        def do_POST(self) -> None:
            body = self.body()
            stub.keys.add(self.headers.get("x-api-key"))
            if stub.hangs:
                stub.take("hung", "", body)
                closing.wait()
                return
            stub.take(self.path, self.headers["Content-Type"], body)
            self._reply(body)

        def do_PATCH(self) -> None:
            self._reply(self.body())

        def do_GET(self) -> None:
            stub.keys.add(self.headers.get("x-api-key"))
            self._reply(b"")

        def _reply(self, body: bytes) -> None:
            kind = self.headers.get("Content-Type", "")
            found = stub.store.reply(self.command, self.path, kind, body) if stub.status == 200 else None
            self.reply(json.dumps({} if found is None else found), status=stub.status, headers={})

    with listening(Told) as stub.url:
        try:
            yield stub
        finally:
            closing.set()


def _read_spans(body: bytes) -> Iterator[Any]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        for scope in resource.scope_spans:
            yield from scope.spans
