"""Load the service, beside a bare route or beside an older commit, and print the table: `make load`.

The language model is a server that takes half a second for each answer.

Service, model and users share the cores of this machine, and everything is on loopback. The shares of a run can be
compared with each other; milliseconds of another run on another day cannot.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil

from app.settings import load_settings
from benchmarks.figures import write_figures
from benchmarks.load.loading import ROOT, SETTINGS, WARM_S, Load, measured, provider, questions
from benchmarks.load.profile import profiled
from benchmarks.load.report import HEAD, QUERY, STREAM, Measured, aims, paired, ratios, row
from benchmarks.load.users import Ask, streamed, whole
from benchmarks.load.workers import loads_by_workers
from tests.processes import PATIENCE_S, Service, free_port, service
from tests.waiting import wait_until

SECONDS = 15.0
USERS = (16, 50, 200)
PAIRED_USERS = 8
KINDS: dict[str, Ask] = {QUERY: whole, STREAM: streamed}


def main() -> None:
    """Run it all, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="How long each load lasts.")
    parser.add_argument("--warm-s", type=float, default=WARM_S, help="How long each load runs before it is measured.")
    parser.add_argument("--users", type=int, nargs=3, default=USERS, help="How many users: few, some and many.")
    parser.add_argument("--baseline", type=Path, help="A checkout of another commit: both are loaded in turn.")
    parser.add_argument("--rounds", type=int, default=3, help="How often both are loaded, with --baseline.")
    parser.add_argument("--workers", type=int, help="Load each store with one worker, and with up to so many.")
    given = parser.parse_args()
    if given.workers:
        by_workers(given.workers, given.seconds)
    elif given.baseline:
        compare(given.baseline.resolve(), rounds=given.rounds, seconds=given.seconds)
    else:
        report(given.seconds, given.warm_s, tuple(given.users))


def report(seconds: float, warm_s: float, users: tuple[int, int, int]) -> None:
    """Load the service and the bare route, and print the tables of docs/load.md."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        model = stack.enter_context(provider())
        settings = SETTINGS | {"LLM_BASE_URL": model, "CHROMA_PATH": str(folder / "store")}
        with service(folder, **settings) as running, _bare(model) as bare:
            loads = _loaded(running, bare, seconds, warm_s, users)
        own = load_settings(_env_file=None, **{name.lower(): value for name, value in settings.items()})
        ms, shares = asyncio.run(profiled(own, questions(), users=users[0]))
    profile = ["| in | share |", "|---|---|", *(f"| {name} | {share:.0%} |" for name, share in shares)]
    print(f"\nThe event loop's thread, {ms:.0f} ms of its own a question under the profiler:\n")
    print("\n".join(profile))
    if (seconds, warm_s, users) == (SECONDS, WARM_S, USERS):
        write_figures("load", loads | {"profile": profile, "profile_ms": round(ms)})


def by_workers(most: int, seconds: float) -> None:
    """Load each store with one worker and with more, and print the table."""
    rows = []
    print(HEAD)
    for load in loads_by_workers(most, seconds):
        rows.append(row(load))
        print(rows[-1], flush=True)
    write_figures("load_workers", {"table": [HEAD, *rows]})


def compare(baseline: Path, *, rounds: int, seconds: float) -> None:
    """Load the commit of `baseline` and this one in turn, and print the processor's time of both and its ratio."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        settings = SETTINGS | {"LLM_BASE_URL": stack.enter_context(provider())}
        running = []
        for name, checkout in (("before", baseline), ("now", ROOT)):
            home = folder / name
            home.mkdir()
            store = {"CHROMA_PATH": str(home / "store")}
            running.append(stack.enter_context(service(home, checkout=checkout, **settings, **store)))
        pairs = [_pair(running, ask, name, turn, seconds) for turn in range(rounds) for name, ask in KINDS.items()]
    print(paired(pairs))
    write_figures("load_paired", ratios(pairs))


def _pair(running: list[Service], ask: Ask, name: str, turn: int, seconds: float) -> tuple[Measured, Measured]:
    """Load both, the older one first in every second round."""
    loads = [Load(name, each.url, ask, PAIRED_USERS, (psutil.Process(each.process.pid),)) for each in running]
    order = (0, 1) if turn % 2 == 0 else (1, 0)
    found = {number: measured(loads[number], seconds) for number in order}
    return found[0], found[1]


def _loaded(running: Service, bare: str, seconds: float, warm_s: float, users: tuple[int, int, int]) -> dict[str, Any]:
    process = (psutil.Process(running.process.pid),)
    loads = [
        *(Load("bare route", bare, whole, number) for number in users),
        *(Load(QUERY, running.url, whole, number, process) for number in users),
        *(Load(STREAM, running.url, streamed, number, process) for number in (1, users[0])),
    ]
    found = [measured(load, seconds, warm_s=warm_s) for load in loads]
    lines, held = [*HEAD.splitlines(), *map(row, found)], aims(found, users)
    print("\n".join([*lines, "", held]), flush=True)
    return {"table": lines, "aims": held.splitlines()}


@contextmanager
def _bare(provider: str) -> Iterator[str]:
    port = free_port()
    with subprocess.Popen([sys.executable, "-m", "benchmarks.load.bare", provider, str(port)], cwd=ROOT) as process:
        try:
            wait_until(lambda: _answers(port), limit_s=PATIENCE_S)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/openapi.json").is_success
    except httpx.TransportError:
        return False


if __name__ == "__main__":
    main()
