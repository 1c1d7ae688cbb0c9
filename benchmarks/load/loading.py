"""One load: who asks what of which service, beside which language model."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import psutil

from benchmarks.load.report import MODEL_MS, Measured
from benchmarks.load.users import Ask, ask_all

ROOT = Path(__file__).parents[2]
QUESTIONS = ROOT / "evals" / "questions.jsonl"
WARM_S = 3.0
SETTINGS = {"LLM_API_KEY": "gsk_load", "LOG_LEVEL": "error", "WARM_UP": "on"}


@dataclass(frozen=True)
class Load:
    """Who asks what and how; the processor's time is that of the processes that are `watched`."""

    name: str
    url: str
    ask: Ask
    users: int
    watched: tuple[psutil.Process, ...] = ()

    def used(self) -> float:
        """Return the seconds of a processor that were used so far."""
        return sum(times.user + times.system for times in (process.cpu_times() for process in self.watched))


def measured(load: Load, seconds: float, *, warm_s: float = WARM_S) -> Measured:
    """Load the service for so many seconds after `warm_s`, and return what came of it."""
    used: list[float] = []
    asking = ask_all(
        load.url,
        questions(),
        load.ask,
        users=load.users,
        warm_s=warm_s,
        seconds=seconds,
        mark=lambda: used.append(load.used()),
    )
    samples = asyncio.run(asking)
    return Measured(load.name, load.users, seconds, samples, used[1] - used[0])


def questions() -> list[str]:
    """Return the sample corpus's questions that its documents answer."""
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    return [row["question"] for row in rows if row["kind"] == "answerable"]


@contextmanager
def provider(*, delay_ms: float = MODEL_MS) -> Iterator[str]:
    """Run the language model in a process of its own while the body runs; yield its address."""
    command = [sys.executable, "-m", "benchmarks.load.provider", "--delay-ms", str(delay_ms)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield cast("IO[str]", process.stdout).readline().strip()
        finally:
            process.terminate()
