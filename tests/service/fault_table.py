"""Write the table of docs/resilience.md: what the co-pilot does about every fault of the provider.

    python -m tests.service.fault_table

runs every fault through the real service and the real client, and writes the table between its two markers.
"""

import socket
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from tests.faults import FAULTS, GOOD
from tests.service.desk import ENDLESS, Result, open_desk, without_breaker

PAGE = Path(__file__).parents[2] / "docs" / "resilience.md"
BEGIN, END = "<!-- The table of faults, as `python -m tests.service.fault_table` writes it. -->", "<!-- Its end. -->"
REFUSED = "connection refused"
TABLED = (*GOOD, *FAULTS, REFUSED)
WAYS = ("whole", "streamed")
SHORT_TIMEOUT_S = 0.3
OPENING = threading.Lock()  # FastAPI suppresses warnings while an application is made, which threads cannot do at once.
JITTER, CAP_S = 0.25, 10


@dataclass(frozen=True)
class Row:
    """A line of the table: a fault, the way it was asked, and what came of it with and without a fallback."""

    fault: str
    way: str
    fallback: Result
    alone: Result


@contextmanager
def closed_port() -> Iterator[str]:
    """Hold a port on which nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


def run(folder: Path) -> list[Row]:
    """Return the row of every fault, asked for whole and streamed, with a fallback and without."""
    quick = [fault for fault in (*GOOD, *FAULTS) if fault not in ENDLESS]
    with without_breaker(), closed_port() as nowhere, ThreadPoolExecutor() as pool:
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
    with ExitStack() as stack:
        with OPENING:
            desk = stack.enter_context(open_desk(folder, **settings))
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
