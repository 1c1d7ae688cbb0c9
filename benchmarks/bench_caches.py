"""Rows of `make bench` for the caches: what a repeated question takes in all, and whether anything outside is asked.

`python -m benchmarks.bench_caches` prints them alone. Without Redis at REDIS_URL its rows are left out.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import redis
from langchain_core.callbacks import BaseCallbackHandler

from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wiring import Services, sample_corpus
from chains.state import Question

ASKED = Question(question="Which permits for cosmetics to Indonesia?")
TIMES = 300
AIM = "<= 4 ms, 0"

Row = tuple[str, str, str]


class Figures(NamedTuple):
    """Milliseconds by the clock, and of the processor on average, and how often something outside was asked."""

    p50: float
    p95: float
    processor: float
    outside: int

    def __str__(self) -> str:
        """Return them as a row of the table has them."""
        return f"{self.p50:.1f} / {self.p95:.1f} / {self.processor:.1f} ms, {self.outside}"


class Outside(BaseCallbackHandler):
    """Counts what calls ask of the model, of the retriever and of the embeddings, which tell by the cache's counts."""

    run_inline = True  # Counting is not worth a thread for each event.

    def __init__(self, services: Services) -> None:
        self._counts = services.caches.stats
        self._calls = 0

    def count(self) -> int:
        """Return how often something outside was asked so far."""
        return self._calls + sum(self._counts.of("embedding", event) for event in ("hits", "misses"))

    def on_retriever_start(self, *args: Any, **kwargs: Any) -> None:
        """Count a search."""
        self._calls += 1

    def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
        """Count a generation."""
        self._calls += 1


def rows() -> Iterator[Row]:
    """Yield what a repeated question takes: from memory, from Redis, and from Redis in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        yield from _rows(_services(folder, "memory"), "memory")
        if _redis_listens():
            yield from _rows(_services(folder, "redis"), "Redis")
            command = [sys.executable, "-m", "benchmarks.bench_caches", folder]
            told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            for way, figures in json.loads(told.splitlines()[-1]):
                yield f"... from Redis, asked {way} in another process", str(Figures(*figures)), AIM


def _rows(services: Services, place: str) -> Iterator[Row]:
    services.ingest([sample_corpus()])
    services.chain.invoke(ASKED)
    for way, figures in measure(services):
        name = f"a question asked before, answer from {place}, {way}, p50 / p95 / processor, calls outside"
        yield name, str(figures), AIM


def measure(services: Services) -> list[tuple[str, Figures]]:
    """Return for each way to ask what it took."""
    return asyncio.run(_measure(services))


async def _measure(services: Services) -> list[tuple[str, Figures]]:
    outside = Outside(services)
    config: Any = {"callbacks": [outside]}

    async def invoke() -> None:
        services.chain.invoke(ASKED, config)

    async def ainvoke() -> None:
        await services.chain.ainvoke(ASKED, config)

    async def astream() -> None:
        async for _ in services.chain.astream(ASKED, config):
            pass

    async with services.running():
        return [(ask.__name__, await _timed(ask, outside)) for ask in (invoke, ainvoke, astream)]


async def _timed(ask: Callable[[], Awaitable[None]], outside: Outside) -> Figures:
    before, processor, times = outside.count(), time.process_time(), []
    for _ in range(TIMES):
        started = time.perf_counter()
        await ask()
        times.append(1000 * (time.perf_counter() - started))
    times.sort()
    used = 1000 * (time.process_time() - processor) / TIMES
    return Figures(times[TIMES // 2], times[TIMES * 95 // 100], used, outside.count() - before)


def _services(folder: str, backend: str) -> Services:
    configure_logs("warning")
    path = Path(folder) / "store" / "vectors.json"
    options = {"memory_store_path": path, "vector_store_type": "memory", "llm_provider": "offline"}
    return Services(load_settings(_env_file=None, cache_enabled=True, cache_backend=backend, **options))


def _redis_listens() -> bool:
    try:
        with redis.Redis.from_url(load_settings().redis.url.get_secret_value()) as client:
            return bool(client.ping())
    except redis.ConnectionError:
        return False


if __name__ == "__main__":
    if len(sys.argv) > 1:  # The other process: what is in Redis already.
        print(json.dumps(measure(_services(sys.argv[1], "redis"))))
    else:
        for row in rows():
            print(" | ".join(row))
