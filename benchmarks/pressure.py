"""Measure what endless replies of a provider and many uploads at once cost a service: `python -m benchmarks.pressure`.

The service is a process of its own, on loopback; the provider and the clients are threads of this one.
"""

import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil

from benchmarks.figures import write_figures
from benchmarks.hostile.alone import alone
from tests.access import QUESTION, write_corpus
from tests.faulty import faulty_groq
from tests.processes import PATIENCE_S, Service
from tests.uploads import KEYS, STAFF

STREAMS, STREAMS_AT_ONCE, UPLOADS = 20, 4, 250
LOOK_S, REST_S = 0.05, 5
MIB = 2**20


def main() -> None:
    """Measure both, print, and keep the figures."""
    found: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as name, faulty_groq(always="endless answer") as groq:
        folder = Path(name)
        write_corpus(folder)
        provider = {"LLM_PROVIDER": "groq", "LLM_API_KEY": "gsk_test", "LLM_BASE_URL": groq.url}
        limits = {"AUTH_MODE": "api_key", "API_KEYS": KEYS, "UPLOADS_PATH": str(folder / "uploads")}
        with alone(folder, **provider, **limits) as service:
            for title, work in (("endless streams", _ask_for_ever), ("uploads at once", _upload)):
                found[title] = _measured(service, work)
                print(title, *found[title], sep=" | ", flush=True)
    write_figures("pressure", found)


def _measured(service: Service, work: Callable[[str], str]) -> list[str]:
    """Return what came of it, the seconds, and memory and threads before, at the most and afterwards."""
    process = psutil.Process(service.process.pid)
    with _watched(process) as most:
        before, started = process.memory_info().rss, time.perf_counter()
        told = work(service.url)
        seconds = time.perf_counter() - started
        time.sleep(REST_S)
        after = process.memory_info().rss
    memory = f"{before / MIB:.0f}, {most['memory'] / MIB:.0f}, {after / MIB:.0f} MB"
    return [told, f"{seconds:.0f} s", memory, f"{most['threads']} threads"]


@contextmanager
def _watched(process: psutil.Process) -> Iterator[dict[str, int]]:
    """Keep the most memory and threads that the process has while the body runs."""
    most, done = {"memory": 0, "threads": 0}, threading.Event()

    def watch() -> None:
        while not done.wait(LOOK_S):
            most["memory"] = max(most["memory"], process.memory_info().rss)
            most["threads"] = max(most["threads"], process.num_threads())

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield most
    finally:
        done.set()
        thread.join()


def _ask_for_ever(url: str) -> str:
    """Read streams to their ends."""

    def read(number: int) -> int:
        body = {"input": {"question": f"{QUESTION} {number}"}}
        with httpx.stream("POST", f"{url}/copilot/stream", json=body, headers=STAFF, timeout=PATIENCE_S) as reply:
            return sum(map(len, reply.iter_bytes()))

    with ThreadPoolExecutor(STREAMS_AT_ONCE) as threads:
        sizes = list(threads.map(read, range(STREAMS)))
    return f"{STREAMS}, {STREAMS_AT_ONCE} at once; at most {max(sizes) / 1000:.0f} kB each"


def _upload(url: str) -> str:
    """Send small files all at once."""

    def send(number: int) -> int:
        files = [("files", (f"note{number}.md", f"# Note {number}\n\nThe fee is {number} dollars.".encode()))]
        return httpx.post(f"{url}/api/documents", files=files, headers=STAFF, timeout=PATIENCE_S).status_code

    with ThreadPoolExecutor(UPLOADS) as threads:
        statuses = Counter(threads.map(send, range(UPLOADS)))
    return f"{UPLOADS}; " + ", ".join(f"{count} told {status}" for status, count in sorted(statuses.items()))


if __name__ == "__main__":
    main()
