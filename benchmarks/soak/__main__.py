"""Run the service and a faulty provider as two processes, ask, and print what held: `make soak`."""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, cast

import httpx

from benchmarks.figures import write_figures
from benchmarks.soak.claims import Soak, claims, figures
from benchmarks.soak.clients import Told, ask_all, asked
from benchmarks.soak.service import PROBE
from tests.processes import free_port

ROOT = Path(__file__).parents[2]
QUESTIONS = ROOT / "evals" / "questions.jsonl"
START_S, SETTLE_S = 400, 90
QUIET_S = 6  # Longer than the service keeps idle connections.
SETTINGS = {
    "LLM_API_KEY": "gsk_soak",
    "LLM_TIMEOUT_S": "20",
    "REQUEST_TIMEOUT_S": "60",
    "LLM_BREAKER_RESET_S": "3",
    "LOG_LEVEL": "error",
}


def main() -> None:
    """Soak, print, and exit with 1 where a claim does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=2_000)
    parser.add_argument("--warm-up", type=int, default=300)
    parser.add_argument("--at-once", type=int, default=50)
    parser.add_argument("--faults", type=float, default=0.2)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # So that the other processes are ended too.
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        provider = stack.enter_context(_provider(given.faults))
        service = stack.enter_context(_service(folder, provider))
        soak = asyncio.run(_soak(service, provider, given))
    print("\n".join(f"{name:58} {value}" for name, value in figures(soak)))
    found = list(claims(soak))
    print("\n".join(f"{claim.sentence:58} {claim.measured:22} {'ok' if claim.held else 'FAILED'}" for claim in found))
    if given == parser.parse_args([]):
        held = [(claim.sentence, claim.measured, claim.held) for claim in found]
        write_figures("soak", {"rows": list(figures(soak)), "claims": held})
    sys.exit(not all(claim.held for claim in found))


async def _soak(service: str, provider: str, given: argparse.Namespace) -> Soak:
    questions, every = _questions(), given.warm_up + given.questions
    await ask_all(service, asked(questions, 0, given.warm_up), at_once=given.at_once)
    before = await _held(service, next(asked(questions, every, 1)))
    earlier = len(await _calls(provider))
    started = time.perf_counter()
    told = await ask_all(service, asked(questions, given.warm_up, given.questions), at_once=given.at_once)
    seconds = time.perf_counter() - started
    last = next(asked(questions, every + 1, 1))
    after = await _held(service, last)
    calls = [(question, deed) for question, deed in await _calls(provider) if question != last.question]
    return Soak(told, calls[earlier:], before, after, seconds)


async def _calls(provider: str) -> list[tuple[str, str]]:
    async with httpx.AsyncClient() as client:
        return [(question, deed) for question, deed in (await client.get(f"{provider}/received")).json()["calls"]]


async def _held(service: str, last: Told) -> dict[str, int]:
    """Return what the service holds when it has come to rest; the `last` question makes it drop idle connections."""
    async with httpx.AsyncClient(base_url=service) as client:
        await _until_quiet(client)
        await ask_all(service, [replace(last, way="whole")], at_once=1)
        await asyncio.sleep(1)
        held: dict[str, int] = (await client.get(PROBE)).json()
        return held


async def _until_quiet(client: httpx.AsyncClient) -> None:
    deadline, quiet_since, tasks = time.monotonic() + SETTLE_S, time.monotonic(), -1
    while time.monotonic() < min(deadline, quiet_since + QUIET_S):
        if (now := (await client.get(PROBE)).json()["tasks"]) != tasks:
            quiet_since, tasks = time.monotonic(), now
        await asyncio.sleep(0.5)


def _questions() -> list[str]:
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    return [row["question"] for row in rows if row["kind"] == "answerable"]


@contextmanager
def _provider(faults: float) -> Iterator[str]:
    command = [sys.executable, "-m", "tests.faulty", "--faults", str(faults), "--delay-ms", "100", "--word-ms", "5"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield cast("IO[str]", process.stdout).readline().strip()
        finally:
            process.terminate()


@contextmanager
def _service(folder: Path, provider: str) -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.soak.service", "serve", "--port", str(port)]
    environment = {
        **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},  # noqa: TID251
        **SETTINGS,
        "PYTHONPATH": str(ROOT),
        "CHROMA_PATH": str(folder / "store"),
        "LLM_BASE_URL": provider,
    }
    with subprocess.Popen(command, cwd=folder, env=environment) as process:
        try:
            _wait_until_up(f"http://127.0.0.1:{port}", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def _wait_until_up(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{url}/api/health").is_success:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    sys.exit("the service did not start")


if __name__ == "__main__":
    main()
