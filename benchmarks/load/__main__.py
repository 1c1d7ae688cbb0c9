"""Load the service, beside a bare route or beside an older commit, and print the table: `make load`.

The language model is a server that takes half a second for each answer.

Service, model and users share the cores of this machine, and everything is on loopback. The shares of a run can be
compared with each other; milliseconds of another run on another day cannot.
"""

import argparse
import tempfile
from contextlib import ExitStack
from pathlib import Path

import psutil

from benchmarks.figures import write_figures
from benchmarks.load.loading import SETTINGS, WARM_S, Load, measured
from benchmarks.load.report import HEAD, MODEL_MS, QUERY, STREAM, Measured, aims, paired, row
from benchmarks.load.users import Ask, streamed, whole
from benchmarks.processes import ROOT, Service, language_model, listening, responds, service, wait_until

SECONDS = 15.0
USERS = (16, 50, 200)
PAIRED_USERS = 8
KINDS: dict[str, Ask] = {QUERY: whole, STREAM: streamed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="How long each load lasts.")
    parser.add_argument("--warm-s", type=float, default=WARM_S, help="How long each load runs before it is measured.")
    parser.add_argument("--users", type=int, nargs=3, default=USERS, help="How many users: few, some and many.")
    parser.add_argument("--baseline", type=Path, help="A checkout of another commit: both are loaded in turn.")
    parser.add_argument("--rounds", type=int, default=3, help="How often both are loaded, with --baseline.")
    given = parser.parse_args()
    if given.baseline:
        compare(given.baseline.resolve(), rounds=given.rounds, seconds=given.seconds)
    else:
        report(given.seconds, given.warm_s, tuple(given.users))


def report(seconds: float, warm_s: float, users: tuple[int, int, int]) -> None:
    """Load the service and the bare route, and print the tables of docs/measurements.md."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        model = stack.enter_context(language_model(delay_ms=MODEL_MS))
        settings = SETTINGS | {"LLM_BASE_URL": model}
        running = stack.enter_context(service(folder, **settings))
        bare = stack.enter_context(listening("benchmarks.load.bare", model))
        wait_until(lambda: responds(f"{bare}/openapi.json"))
        process = (psutil.Process(running.process.pid),)
        loads = [
            *(Load("bare route", bare, whole, number) for number in users),
            *(Load(QUERY, running.url, whole, number, process) for number in users),
            *(Load(STREAM, running.url, streamed, number, process) for number in (1, users[0])),
        ]
        found = [measured(load, seconds, warm_s=warm_s) for load in loads]
    lines, held = [*HEAD.splitlines(), *map(row, found)], aims(found, users)
    print("\n".join([*lines, "", held]))
    if (seconds, warm_s, users) == (SECONDS, WARM_S, USERS):
        write_figures("load", {"table": lines, "aims": held.splitlines()})


def compare(baseline: Path, *, rounds: int, seconds: float) -> None:
    """Load the commit of `baseline` and this one in turn, and print the processor's time of both and its ratio."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        settings = SETTINGS | {"LLM_BASE_URL": stack.enter_context(language_model(delay_ms=MODEL_MS))}
        running = []
        for name, checkout in (("before", baseline), ("now", ROOT)):
            home = folder / name
            home.mkdir()
            running.append(stack.enter_context(service(home, checkout=checkout, **settings)))
        pairs = [_pair(running, ask, name, turn, seconds) for turn in range(rounds) for name, ask in KINDS.items()]
    print(paired(pairs))


def _pair(running: list[Service], ask: Ask, name: str, turn: int, seconds: float) -> tuple[Measured, Measured]:
    """Load both, the older one first in every second round."""
    loads = [Load(name, each.url, ask, PAIRED_USERS, (psutil.Process(each.process.pid),)) for each in running]
    order = (0, 1) if turn % 2 == 0 else (1, 0)
    found = {number: measured(loads[number], seconds) for number in order}
    return found[0], found[1]


if __name__ == "__main__":
    main()
