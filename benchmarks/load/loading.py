"""One load: who asks what of which service, beside which language model."""

import asyncio
from dataclasses import dataclass

import psutil

from benchmarks.load.report import Measured
from benchmarks.load.users import Ask, ask_all
from benchmarks.offline import questions

WARM_S = 3.0
SETTINGS = {"LLM_API_KEY": "gsk_load", "LOG_LEVEL": "error"}


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
        questions("answerable"),
        load.ask,
        users=load.users,
        warm_s=warm_s,
        seconds=seconds,
        mark=lambda: used.append(load.used()),
    )
    samples = asyncio.run(asking)
    return Measured(load.name, load.users, seconds, samples, used[1] - used[0])
