"""Load one process over a folder of Chroma's, then one and more workers over stores that processes share.

The users ask nginx, where it is installed, as docs/operations.md sets it up.
"""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path

import psutil

from benchmarks.load.loading import SETTINGS, Load, measured, provider
from benchmarks.load.report import Measured
from benchmarks.load.users import whole
from benchmarks.places import PLACES, Place, emptied
from tests import nginx
from tests.processes import ROOT, Service, python_of, service

USERS = 50
ALONE = "Chroma, folder"


def loads_by_workers(most: int, seconds: float) -> Iterator[Measured]:
    """Yield a load of each store by 1 to `most` workers; only one process can open a folder of Chroma's."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        model = stack.enter_context(provider())
        for name, opened in PLACES.items():
            place = stack.enter_context(opened(emptied(folder / name)))
            settings = SETTINGS | {"LLM_BASE_URL": model} | _variables(place)
            subprocess.run(
                [python_of(ROOT), "-c", "from app.cli import main; main()", "ingest"],
                cwd=folder,
                env={"PATH": os.defpath, "HOME": str(Path.home()), "PYTHONPATH": str(ROOT), **settings},
                check=True,
                stdout=subprocess.DEVNULL,
            )
            for workers in range(1, (1 if name == ALONE else most) + 1):
                with service(folder, "--workers", str(workers), **settings) as running, _front(running.url) as url:
                    behind = "" if url == running.url else ", nginx"
                    found = Load(f"{name}, {workers}{behind}", url, whole, USERS, _processes(running))
                    yield measured(found, seconds)


def _front(url: str) -> AbstractContextManager[str]:
    return nginx.nginx(url) if nginx.program() else nullcontext(url)


def _variables(place: Place) -> dict[str, str]:
    return {name.upper(): value for name, value in place.settings.items()}


def _processes(running: Service) -> tuple[psutil.Process, ...]:
    return tuple(running.workers()) or (psutil.Process(running.process.pid),)
