"""Measure what warming up costs at start and saves the first who asks: `python -m benchmarks.bench_warm_up`.

`waypoint serve` is started with and without it, in turn, on the sample corpus, answering offline.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

ROUNDS = 5
PORT = 38_419
URL = f"http://127.0.0.1:{PORT}"
QUESTION = "Which permits for cosmetics to Indonesia?"
WAYPOINT = str(Path(sys.executable).with_name("waypoint"))


def main() -> None:
    """Print the medians as a table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([WAYPOINT, "ingest"], cwd=folder, env=_environment(folder), check=True, capture_output=True)
        times: dict[str, list[tuple[float, float, float]]] = {"true": [], "false": []}
        for _ in range(ROUNDS):
            for warm_up, measured in times.items():
                measured.append(_start_and_ask(folder, warm_up))
    print("| WARM_UP | ready after | first answer | second answer |\n|---|---|---|---|")
    for warm_up, measured in times.items():
        ready, first, second = (statistics.median(column) for column in zip(*measured, strict=True))
        print(f"| {warm_up} | {ready:.2f} s | {1000 * first:.0f} ms | {1000 * second:.0f} ms |")


def _start_and_ask(folder: Path, warm_up: str) -> tuple[float, float, float]:
    """Return the seconds until it is ready, and those of the first and the second answer."""
    started = time.perf_counter()
    with _serving(folder, warm_up), httpx.Client(base_url=URL, timeout=60) as client:
        ready = time.perf_counter() - started
        return ready, _ask(client), _ask(client)


def _ask(client: httpx.Client) -> float:
    started = time.perf_counter()
    client.post("/api/query", json={"query": QUESTION}).raise_for_status()
    return time.perf_counter() - started


@contextmanager
def _serving(folder: Path, warm_up: str) -> Iterator[None]:
    command = [WAYPOINT, "serve", "--port", str(PORT)]
    with subprocess.Popen(
        command,
        cwd=folder,
        env={**_environment(folder), "WARM_UP": warm_up},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            _wait_until_ready(process)
            yield
        finally:
            process.terminate()


def _wait_until_ready(process: "subprocess.Popen[bytes]") -> None:
    while process.poll() is None:
        try:
            httpx.get(f"{URL}/health/ready").raise_for_status()
        except httpx.TransportError:
            time.sleep(0.02)
        else:
            return
    msg = f"waypoint serve ended with exit code {process.returncode}"
    raise RuntimeError(msg)


def _environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": os.defpath,
        "HOME": str(Path.home()),
        "CHROMA_PATH": str(folder / "store"),
        "LLM_PROVIDER": "offline",
    }


if __name__ == "__main__":
    main()
