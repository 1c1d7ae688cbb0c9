"""Run the tests of `make test` and measure what the run takes: `python -m benchmarks.suite [--checkout PATH]`.

Another commit is run by its own environment where it has one, in one process. Processor time is that of the run with
all its processes; memory is that of the largest process, and of all together at their highest, sampled twice a second.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from benchmarks.figures import write_figures
from benchmarks.processes import python_of

AS_IN_THE_MAKEFILE = {"MALLOC_ARENA_MAX": "2", "PYTHONDONTWRITEBYTECODE": ""}

ROOT = Path(__file__).parents[1]
PAUSE_S = 0.5
AS_MAKE_TEST = ["--numprocesses=2", "--dist=loadfile", "--ignore=tests/web", "--cov=chains", "--cov-report="]


def main() -> None:
    """Run the tests, print what they took, and keep it for the docs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkout", type=Path, help="a checkout of another commit")
    given = parser.parse_args()
    if given.checkout:
        found = measure([python_of(given.checkout.resolve()), "-m", "pytest", "-q"], given.checkout)
    else:
        found = measure([sys.executable, "-m", "pytest", "-q", *AS_MAKE_TEST], ROOT)
    print(found)
    write_figures("suite_before" if given.checkout else "suite", found)


def measure(command: list[str], folder: Path) -> dict[str, Any]:
    """Return the seconds and the memory that a command takes, and its exit code."""
    started, largest, together = time.perf_counter(), 0, 0
    environment = {**os.environ, **AS_IN_THE_MAKEFILE}  # noqa: TID251 - the tests' own.
    with subprocess.Popen(command, cwd=folder, env=environment) as process:
        while process.poll() is None:
            sizes = list(_sizes(process.pid))
            largest, together = max([largest, *sizes]), max(together, sum(sizes))
            time.sleep(PAUSE_S)
    used = os.times()
    return {
        "exit_code": process.returncode,
        "wall_s": round(time.perf_counter() - started),
        "processor_s": round(used.children_user + used.children_system),
        "largest_process_mb": largest >> 20,
        "all_processes_mb": together >> 20,
    }


def _sizes(pid: int) -> list[int]:
    """Return the resident memory of a process and of all that it started."""
    try:
        root = psutil.Process(pid)
        return [each.memory_info().rss for each in (root, *root.children(recursive=True))]
    except psutil.NoSuchProcess:
        return []


if __name__ == "__main__":
    main()
