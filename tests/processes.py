"""Real processes: `waypoint serve` on loopback, as an operator starts and stops it, and functions of the tests."""

import multiprocessing
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.waiting import wait_until

ROOT = Path(__file__).parents[1]
# Generous, for a machine that runs much else: whoever waits goes on as soon as the condition holds.
PATIENCE_S = 150
UNHURRIED = {"WARM_UP": "off", "DRAIN_TIMEOUT_S": "600"}


@dataclass(frozen=True)
class Service:
    """A running service, where it listens, and the file that its messages go to."""

    process: subprocess.Popen[bytes]
    url: str
    messages: Path

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def exit_code(self) -> int:
        """Wait until it has ended."""
        return self.process.wait(PATIENCE_S)

    def workers(self) -> list[psutil.Process]:
        """Return the living processes that it started to answer; multiprocessing's tracker of resources is none."""
        children = psutil.Process(self.process.pid).children()
        return [child for child in children if _answers(child)]

    def phase(self) -> str | None:
        """Return what it says of its readiness; None where nothing answers."""
        try:
            return str(httpx.get(f"{self.url}/health/ready", timeout=PATIENCE_S).json()["status"])
        except httpx.TransportError:
            return None


def _answers(child: psutil.Process) -> bool:
    try:
        return "spawn_main" in " ".join(child.cmdline())
    except psutil.NoSuchProcess:
        return False


@contextmanager
def service(
    folder: Path, *words: str, checkout: Path | str = ROOT, port: str = "", **settings: str
) -> Iterator[Service]:
    """Run `waypoint serve` in `folder` with these options and settings; it is ready when the body begins.

    The code is that of `checkout`, run by its own environment where it has one; the port is a free one.
    """
    port = port or str(free_port())
    messages = folder / "messages.txt"
    with messages.open("wb") as file:
        process = subprocess.Popen(
            [python_of(checkout), "-c", "from app.cli import main; main()", "serve", "--port", port, *words],
            cwd=folder,
            env={
                "PATH": os.defpath,
                "HOME": str(Path.home()),
                "PYTHONPATH": str(checkout),
                "WARM_UP": "off",
                "DRAIN_TIMEOUT_S": "600",
                **settings,
            },
            stdout=file,
            stderr=file,
        )
    running = Service(process, f"http://127.0.0.1:{port}", messages)
    try:
        wait_until(lambda: process.poll() is not None or running.phase() == "ready", limit_s=PATIENCE_S)
        assert process.poll() is None, messages.read_text()
        yield running
    finally:
        process.kill()
        process.wait()


def python_of(checkout: Path | str) -> str:
    """Return what runs the code of a checkout: the Python of its own environment, or this one where it has none."""
    own = Path(checkout) / ".venv" / "bin" / "python"
    return str(own) if checkout != ROOT and own.exists() else sys.executable


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def start(function: Any, *arguments: Any, **options: Any) -> ForkServerProcess:
    """Call a function in a process of its own, forked from one that has imported everything and opened nothing."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.ingest_and_stop"])
    process = context.Process(target=function, args=arguments, kwargs=options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        process.start()
    return process
