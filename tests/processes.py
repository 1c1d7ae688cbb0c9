"""The command line, and functions of the tests, in processes of their own."""

import multiprocessing
import subprocess
import sys
from collections.abc import Sequence
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest

from benchmarks.processes import PROGRAM, ROOT, environment


def run_waypoint(
    folder: Path,
    *words: str,
    before: Sequence[str] = (),
    program: Sequence[str] = PROGRAM,
    stdout: Any = subprocess.PIPE,
    **settings: str,
) -> "subprocess.CompletedProcess[str]":
    """Run the command in a folder, with these settings and none of the tests' own; `before` are words before Python."""
    return subprocess.run(
        [*before, sys.executable, *program, *words],
        cwd=folder,
        env=environment(**settings),
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )


def start(function: Any, *arguments: Any, **options: Any) -> ForkServerProcess:
    """Call a function in a process of its own, forked from one that has imported everything and opened nothing."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.ingest_and_stop"])
    process = context.Process(target=function, args=arguments, kwargs=options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        process.start()
    return process
