"""Run the service and a faulty provider as two processes, ask, and print what held: `make soak`."""

import argparse
import asyncio
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import httpx

from benchmarks.figures import write_figures
from benchmarks.offline import questions
from benchmarks.processes import language_model, service
from benchmarks.soak.claims import Soak, claims, figures
from benchmarks.soak.clients import Told, ask_all, asked
from benchmarks.soak.service import PROBE

SETTLE_S = 90
QUIET_S = 6  # Longer than the service keeps idle connections.
SETTINGS = {"LLM_API_KEY": "gsk_soak", "LLM_TIMEOUT_S": "20", "LOG_LEVEL": "error"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=2_000)
    parser.add_argument("--warm-up", type=int, default=300)
    parser.add_argument("--at-once", type=int, default=50)
    parser.add_argument("--faults", type=float, default=0.2)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # So that the other processes are ended too.
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        provider = stack.enter_context(language_model(delay_ms=100, faults=given.faults))
        settings = SETTINGS | {"LLM_BASE_URL": provider}
        running = stack.enter_context(service(folder, program=("-m", "benchmarks.soak.service"), **settings))
        soak = asyncio.run(_soak(running.url, provider, given))
    print("\n".join(f"{name:58} {value}" for name, value in figures(soak)))
    found = list(claims(soak))
    print("\n".join(f"{claim.sentence:58} {claim.measured:22} {'ok' if claim.held else 'FAILED'}" for claim in found))
    if given == parser.parse_args([]):
        held = [(claim.sentence, claim.measured, claim.held) for claim in found]
        write_figures("soak", {"rows": list(figures(soak)), "claims": held})
    sys.exit(not all(claim.held for claim in found))


async def _soak(url: str, provider: str, given: argparse.Namespace) -> Soak:
    some, every = questions("answerable"), given.warm_up + given.questions
    await ask_all(url, asked(some, 0, given.warm_up), at_once=given.at_once)
    before = await _held(url, next(asked(some, every, 1)))
    earlier = len(await _calls(provider))
    started = time.perf_counter()
    told = await ask_all(url, asked(some, given.warm_up, given.questions), at_once=given.at_once)
    seconds = time.perf_counter() - started
    last = next(asked(some, every + 1, 1))
    after = await _held(url, last)
    calls = [(question, deed) for question, deed in await _calls(provider) if question != last.question]
    return Soak(told, calls[earlier:], before, after, seconds)


async def _calls(provider: str) -> list[tuple[str, str]]:
    async with httpx.AsyncClient() as client:
        return [(question, deed) for question, deed in (await client.get(f"{provider}/received")).json()["calls"]]


async def _held(url: str, last: Told) -> dict[str, int]:
    """Return what the service holds when it has come to rest; the `last` question makes it drop idle connections."""
    async with httpx.AsyncClient(base_url=url) as client:
        await _until_quiet(client)
        await ask_all(url, [replace(last, way="whole")], at_once=1)
        await asyncio.sleep(1)
        held: dict[str, int] = (await client.get(PROBE)).json()
        return held


async def _until_quiet(client: httpx.AsyncClient) -> None:
    deadline, quiet_since, tasks = time.monotonic() + SETTLE_S, time.monotonic(), -1
    while time.monotonic() < min(deadline, quiet_since + QUIET_S):
        if (now := (await client.get(PROBE)).json()["tasks"]) != tasks:
            quiet_since, tasks = time.monotonic(), now
        await asyncio.sleep(0.5)


if __name__ == "__main__":
    main()
