"""Every fault of a language model's server -> what the co-pilot does about it: the table in docs/resilience.md.

    python -m tests.service.fault_table

runs every fault through the real service and the real client, and writes the table between its two markers.
"""

import socket
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from app.problems import problem_of
from app.server import create_app
from app.settings import load_settings
from app.wiring import Services
from tests.clocks import StoppedClock
from tests.exchange import Pace
from tests.faults import DEEDS, FAULTS, GOOD
from tests.faulty import FaultyGroq, faulty_groq
from tests.streams import settled

PAGE = Path(__file__).parents[2] / "docs" / "resilience.md"
BEGIN, END = "<!-- The table of faults, as `python -m tests.service.fault_table` writes it. -->", "<!-- Its end. -->"
QUESTION = "What is the GST rate on imports into Singapore?"
GUIDE = """---
title: GST Guide
source_urls: [https://example.org/gst]
---

# GST Guide

## Rate

The rate of GST on imports into Singapore is 9 % of the value of the goods.
"""
ENDLESS = ("hang", "endless drip")
REFUSED = "connection refused"
TABLED = (*GOOD, *FAULTS, REFUSED)
WAYS = ("whole", "streamed")
# The endless ones fail however long they are waited for; the others are not to fail on a slow machine.
SHORT_TIMEOUT_S, LONG_TIMEOUT_S = 0.3, 60
JITTER, CAP_S = 0.25, 10
A_DAY_S = 86_400


@dataclass(frozen=True)
class Result:
    """What one question brought: the calls that arrived, the waits in between, and the outcome or the status."""

    calls: int
    waits: tuple[float, ...]
    told: str


@dataclass(frozen=True)
class Row:
    """A line of the table: a fault, the way it was asked, and what came of it with and without a fallback."""

    fault: str
    way: str
    fallback: Result
    alone: Result


@dataclass(frozen=True)
class Desk:
    """The service, its clock, and the server that it asks."""

    services: Services
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
            return _outcome(settled(self.services.chain.stream({"question": QUESTION})))
        except Exception as error:  # Whatever it is, the table shows what a client would be told.
            return str(problem_of(error).status)


def _outcome(answer: dict[str, Any]) -> str:
    metadata = answer["metadata"]
    reason = metadata.get("finish_reason", metadata.get("finishReason"))
    return f"{answer['outcome']} ({reason})" if reason == "error" else str(answer["outcome"])


@contextmanager
def open_desk(folder: Path, **settings: Any) -> Iterator[Desk]:
    """Open a service over a small index, and a faulty server for it to ask, while the body runs."""
    guide = folder / "corpus" / "gst.md"
    guide.parent.mkdir(parents=True, exist_ok=True)
    guide.write_text(GUIDE, encoding="utf-8")
    with ExitStack() as stack:
        groq = stack.enter_context(faulty_groq(pace=Pace(drip_s=0.01)))
        clock = StoppedClock()
        services = Services(load_settings(**_settings(folder, groq.url) | settings), clock=clock)
        services.ingest([guide.parent])
        client = stack.enter_context(TestClient(create_app(services), raise_server_exceptions=False))
        yield Desk(services, client, groq, clock)


def _settings(folder: Path, url: str) -> dict[str, Any]:
    return {
        "_env_file": None,
        "vector_store_type": "memory",
        "memory_store_path": folder / "store.json",
        "min_chunks": 0,
        "scope_enabled": False,
        "llm_api_key": "gsk_test",
        "llm_base_url": url,
        "llm_timeout_s": LONG_TIMEOUT_S,
        "llm_breaker_failures": 10_000,  # It has tests of its own; here no fault is to spoil the next.
    }


@contextmanager
def closed_port() -> Iterator[str]:
    """Hold a port on which nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


def run(folder: Path) -> list[Row]:
    """Return the row of every fault, asked for whole and streamed, with a fallback and without."""
    quick = [fault for fault in (*GOOD, *FAULTS) if fault not in ENDLESS]
    with closed_port() as nowhere, ThreadPoolExecutor() as pool:
        jobs: list[tuple[Sequence[str], dict[str, Any]]] = [
            *(([fault], {"llm_timeout_s": SHORT_TIMEOUT_S}) for fault in ENDLESS),
            ([REFUSED], {"llm_base_url": nowhere}),
            (quick, {}),
        ]
        asked = [
            pool.submit(_ask, folder / f"{number}-{fallback}", faults, settings | {"llm_fallback": fallback})
            for number, (faults, settings) in enumerate(jobs)
            for fallback in (True, False)
        ]
        results = {key: result for one in asked for key, result in one.result().items()}
    ways = ((fault, way) for fault in TABLED for way in WAYS)
    return [Row(fault, way, results[fault, way, True], results[fault, way, False]) for fault, way in ways]


def _ask(folder: Path, faults: Sequence[str], settings: dict[str, Any]) -> dict[tuple[str, str, bool], Result]:
    with open_desk(folder, **settings) as desk:
        results = {}
        for fault, way in product(faults, WAYS):
            results[fault, way, settings["llm_fallback"]] = desk.ask(fault, way)
            desk.rest()
        return results


def table(rows: list[Row]) -> str:
    """Return the rows as a table in markdown; a fault that comes to the same both ways has one line."""
    lines = [
        "| The provider | asked for | calls | waits before the next call, s | fallback on | fallback off |",
        "|---|---|---|---|---|---|",
    ]
    for whole, streamed in zip(rows[::2], rows[1::2], strict=True):
        first, second = _cells(whole), _cells(streamed)
        if first == second:
            lines.append(_line(whole.fault, "both", first))
        else:
            lines += [_line(whole.fault, "whole", first), _line(whole.fault, "streamed", second)]
    return "\n".join(lines)


def _line(fault: str, way: str, cells: list[str]) -> str:
    return f"| {' | '.join([fault, way, *cells])} |"


def _cells(row: Row) -> list[str]:
    calls = sorted({row.fallback.calls, row.alone.calls})
    waits = sorted({_waits(row.fallback), _waits(row.alone)})
    return [" or ".join(map(str, calls)), " or ".join(waits), row.fallback.told, row.alone.told]


def _waits(result: Result) -> str:
    return ", ".join(step(wait, number) for number, wait in enumerate(result.waits)) or "none"


def step(wait: float, number: int) -> str:
    """Return the step of the schedule that a wait belongs to, or the wait itself where it keeps to none."""
    expected = min(2**number, CAP_S)
    return str(expected) if expected <= wait <= expected * (1 + JITTER) else f"{wait:g}"


def main() -> None:
    """Run every fault and write the table."""
    with tempfile.TemporaryDirectory() as folder:
        made = table(run(Path(folder)))
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
