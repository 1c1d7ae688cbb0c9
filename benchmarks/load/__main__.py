"""Load the service, beside a bare route, and print the table: `make load`.

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
from benchmarks.load.report import (
    HEAD,
    MODEL_MS,
    QUERY,
    SETTINGS,
    STREAM,
    WARM_S,
    Load,
    aims,
    measured,
    row,
)
from benchmarks.load.users import streamed, whole
from benchmarks.processes import language_model, listening, responds, service, wait_until

SECONDS = 15.0
USERS = (16, 50, 200)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="How long each load lasts.")
    parser.add_argument("--warm-s", type=float, default=WARM_S, help="How long each load runs before it is measured.")
    parser.add_argument("--users", type=int, nargs=3, default=USERS, help="How many users: few, some and many.")
    given = parser.parse_args()
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


if __name__ == "__main__":
    main()
