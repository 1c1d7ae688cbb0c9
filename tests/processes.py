"""The command line, and functions of the tests, in processes of their own."""

import atexit
import multiprocessing
import os
import runpy
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest

from benchmarks.processes import PROGRAM, ROOT, environment, service_by
from tests.remembering import RememberingModel, remember


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
    """Call a function in a process of its own, forked from one that has imported everything and opened nothing.

    The embedding model there is that of the run.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.preloaded"])
    process = context.Process(target=_remembering, args=(RememberingModel.folder, function, arguments, options))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        process.start()
    return process


def _remembering(folder: Path, function: Any, arguments: Sequence[Any], options: dict[str, Any]) -> None:
    remember(folder, pytest.MonkeyPatch())
    function(*arguments, **options)


class Forked:
    """A process that `start` began, as `subprocess` has them."""

    def __init__(self, process: ForkServerProcess) -> None:
        self.process = process
        self.pid: int = process.pid or 0

    def poll(self) -> int | None:
        return self.process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self.process.join(timeout)
        assert self.process.exitcode is not None, "the process did not end in time"
        return self.process.exitcode

    def send_signal(self, sig: int) -> None:
        os.kill(self.pid, sig)

    def kill(self) -> None:
        self.process.kill()


def fork_python(
    words: Sequence[str], folder: Path, variables: dict[str, str], messages: Path, errors: Path | None = None
) -> Forked:
    """Do what `start_python` does in a forked process, which has nothing to import: it takes two seconds less.

    Unlike a real one, it knows itself to be the child of another process, and can start no workers.
    """
    return Forked(start(_python, list(words), folder, variables, messages, errors or messages))


forked_service = partial(service_by, fork_python)


def run_forked(folder: Path, *words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run Python with these words in the folder, in a forked process; files there hold what it printed."""
    out, errors = folder / "printed.txt", folder / "errors.txt"
    code = fork_python(words, folder, environment(**variables), out, errors).wait()
    return subprocess.CompletedProcess(words, code, out.read_text(), errors.read_text())


def _python(words: list[str], folder: Path, variables: dict[str, str], out: Path, errors: Path) -> None:
    for path in (out, errors):
        path.write_bytes(b"")
    for number, path in ((1, out), (2, errors)):
        with path.open("ab") as file:
            os.dup2(file.fileno(), number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    option, program, *rest = words
    sys.argv = [option, *rest]
    try:
        if option == "-c":
            exec(program, {"__name__": "__main__"})  # noqa: S102 - what `python -c` does.
        else:
            sys.modules.pop(program, None)
            runpy.run_module(program, run_name="__main__", alter_sys=True)
    finally:
        atexit._run_exitfuncs()  # Which a process of multiprocessing leaves out.
