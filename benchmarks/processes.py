"""Real processes on loopback, as an operator starts and stops them: for measurements, and for tests."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import httpx
import psutil

ROOT = Path(__file__).parents[1]
# Generous, for a machine that runs much else: whoever waits goes on as soon as the condition holds.
PATIENCE_S = 150.0
# The command line of this checkout, whatever is installed.
PROGRAM = ("-c", "from app.cli import main; main()")


class Process(Protocol):
    """What is used of a process here, as `subprocess` has it."""

    pid: int

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def send_signal(self, sig: int) -> None: ...

    def kill(self) -> None: ...


def start_python(words: Sequence[str], folder: Path, variables: dict[str, str], messages: Path) -> Process:
    """Run Python with these words and this environment in the folder; what it prints goes to the file of messages."""
    with messages.open("wb") as file:
        return subprocess.Popen([sys.executable, *words], cwd=folder, env=variables, stdout=file, stderr=file)


Start = Callable[[Sequence[str], Path, dict[str, str], Path], Process]


@dataclass(frozen=True)
class Service:
    """A running service, where it listens, and the file that its messages go to."""

    process: Process
    url: str
    messages: Path

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def exit_code(self) -> int:
        return self.process.wait(PATIENCE_S)

    def workers(self) -> list[psutil.Process]:
        """Return the living processes that it started to answer; multiprocessing's tracker of resources is none."""
        answering = []
        for child in psutil.Process(self.process.pid).children():
            with suppress(psutil.NoSuchProcess):
                answering += [child] if "spawn_main" in " ".join(child.cmdline()) else []
        return answering

    def phase(self) -> str | None:
        """Return what it says of its readiness; None where nothing answers."""
        try:
            return str(httpx.get(f"{self.url}/health/ready", timeout=PATIENCE_S).json()["status"])
        except httpx.TransportError:
            return None


@contextmanager
def service_by(
    start: Start,
    folder: Path,
    *words: str,
    program: Sequence[str] = PROGRAM,
    port: str = "",
    **settings: str,
) -> Iterator[Service]:
    """Run `waypoint serve` in `folder` with these options and settings; it is ready when the body begins.

    The port is a free one. `program` are other words for Python than those that run the command line.
    """
    port = port or str(free_port())
    messages = folder / "messages.txt"
    process = start([*program, "serve", "--port", port, *words], folder, environment(**settings), messages)
    running = Service(process, f"http://127.0.0.1:{port}", messages)
    try:
        wait_until(lambda: process.poll() is not None or running.phase() == "ready")
        if process.poll() is not None:
            raise RuntimeError(messages.read_text())
        yield running
    finally:
        process.kill()
        process.wait()


service = partial(service_by, start_python)


@contextmanager
def listening(*words: str) -> Iterator[str]:
    """Run `python -m` with these words while the body runs; the address is the first line that it prints."""
    with subprocess.Popen([sys.executable, "-m", *words], cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip() if process.stdout else ""
        finally:
            process.terminate()


def language_model(*, delay_ms: float, faults: float = 0) -> AbstractContextManager[str]:
    """Run the scripted language model of the tests while the body runs: it quotes the first passage, and cites it."""
    pace = ("--delay-ms", str(delay_ms), "--word-ms", "5")
    return listening("tests.faulty", *pace, "--faults", str(faults))


def environment(**settings: str) -> dict[str, str]:
    """Return what a process finds in its environment: where programs are, this checkout, and the settings."""
    return {"PATH": os.defpath, "HOME": str(Path.home()), "PYTHONPATH": str(ROOT), **settings}


def responds(url: str) -> bool:
    try:
        return httpx.get(url).is_success
    except httpx.TransportError:
        return False


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait_until(holds: Callable[[], object]) -> None:
    """Return as soon as the condition holds.

    Raises:
        TimeoutError: it does not hold after `PATIENCE_S`.
    """
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > deadline:
            msg = f"the condition did not hold within {PATIENCE_S:g} s"
            raise TimeoutError(msg)
        time.sleep(0.005)
