"""The real service over a small index, with a faulty provider and a stopped clock."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from starlette.testclient import TestClient

from app.http.errors import reply_to
from app.http.server import create_app
from app.settings import load_settings
from app.wiring import Service, llm, open_service
from chains.output import merge
from tests.clocks import StoppedClock
from tests.corpora import write_documents
from tests.exchange import Pace
from tests.faults import DEEDS
from tests.faulty import FaultyGroq, faulty_groq

QUESTION = "What is the GST rate on imports into Singapore?"
GUIDE = """---
title: GST Guide
source_urls: [https://example.org/gst]
---

# GST Guide

## Rate

The rate of GST on imports into Singapore is 9 % of the value of the goods.
"""
# These fail however long they are waited for.
ENDLESS = ("hang", "endless drip")
A_DAY_S = 86_400


@dataclass(frozen=True)
class Result:
    """What one question brought: the calls that arrived, the waits in between, and the outcome or the status."""

    calls: int
    waits: tuple[float, ...]
    told: str


@dataclass(frozen=True)
class Desk:
    """The service, its clock, and the server that it asks."""

    services: Service
    client: TestClient
    groq: FaultyGroq
    clock: StoppedClock

    def ask(self, fault: str, way: str) -> Result:
        """Return what a question brings while the server has nothing but this fault."""
        self.groq.always = fault if fault in DEEDS else "answer"
        self.groq.received.clear()
        self.clock.slept.clear()
        told = self._whole() if way == "whole" else self._streamed()
        # On a busy machine a short time may be over before the server has read the request: there attempts count.
        calls = len(self.clock.slept) + 1 if fault in ENDLESS else len(self.groq.received)
        return Result(calls, tuple(self.clock.slept), told)

    def rest(self) -> None:
        """Let a day pass, after which nothing is left of what was: no breaker's rest, no wait that was asked for."""
        self.clock.time += A_DAY_S

    def _whole(self) -> str:
        response = self.client.post("/api/query", json={"query": QUESTION})
        return _outcome(response.json()) if response.is_success else str(response.status_code)

    def _streamed(self) -> str:
        try:
            return _outcome(dict(merge(self.services.chain.stream({"question": QUESTION}))))
        except Exception as error:  # Whatever it is, the table shows what a client would be told.
            return str(reply_to(error).status)


def _outcome(answer: dict[str, Any]) -> str:
    metadata = answer["metadata"]
    reason = metadata.get("finish_reason", metadata.get("finishReason"))
    return f"{answer['outcome']} ({reason})" if reason == "error" else str(answer["outcome"])


def without_breaker() -> AbstractContextManager[object]:
    """Let no fault spoil the next while the body runs, in all threads: the breaker has tests of its own."""
    return patch.object(llm, "BREAKER_FAILURES", 10_000)


@contextmanager
def open_desk(folder: Path, **settings: Any) -> Iterator[Desk]:
    """Open a service over a small index, and a faulty server for it to ask, while the body runs."""
    corpus = write_documents(folder / "corpus", {"gst.md": GUIDE})
    with ExitStack() as stack:
        groq = stack.enter_context(faulty_groq(pace=Pace(drip_s=0.01)))
        clock = StoppedClock()
        services = open_service(load_settings(**_settings(folder, groq.url) | settings), clock=clock)
        services.index.ingest([corpus])
        client = stack.enter_context(TestClient(create_app(services), raise_server_exceptions=False))
        yield Desk(services, client, groq, clock)


def _settings(folder: Path, url: str) -> dict[str, Any]:
    return {
        "_env_file": None,
        "vector_store_type": "memory",
        "chroma_path": folder / "store",
        "min_chunks": 0,
        "scope_file": "off",
        "llm_api_key": "gsk_test",
        "llm_base_url": url,
        "llm_timeout_s": 60,
    }
