"""Functions of the tests in processes of their own."""

import multiprocessing
from multiprocessing.context import ForkServerProcess
from typing import Any

import pytest

from benchmarks.processes import ROOT


def start(function: Any, *arguments: Any, **options: Any) -> ForkServerProcess:
    """Call a function in a process of its own, forked from one that has imported everything and opened nothing."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.ingest_and_stop"])
    process = context.Process(target=function, args=arguments, kwargs=options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        process.start()
    return process
