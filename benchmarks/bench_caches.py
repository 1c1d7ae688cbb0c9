"""Rows of `make bench` for the caches: what a repeated question takes in all, and whether anything outside is asked."""

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import redis
from langchain_core.callbacks import BaseCallbackHandler

from app.settings import load_settings
from app.wiring import Services, sample_corpus
from chains.state import Question

ASKED = Question(question="Which permits for cosmetics to Indonesia?")
TIMES = 300

Row = tuple[str, str, str]


class Outside(BaseCallbackHandler):
    """Counts searches and generations; the cache itself counts embeddings."""

    run_inline = True  # Counting is not worth a thread for each event.
    calls = 0

    def on_retriever_start(self, *args: Any, **kwargs: Any) -> None:
        """Count a search."""
        self.calls += 1

    def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
        """Count a generation."""
        self.calls += 1


def rows() -> Iterator[Row]:
    """Yield what a repeated question takes from memory, and from Redis where it listens at REDIS_URL."""
    for backend in ("memory", "redis") if _redis_listens() else ("memory",):
        with tempfile.TemporaryDirectory() as folder:
            store: dict[str, Any] = {"memory_store_path": Path(folder) / "store.json", "vector_store_type": "memory"}
            cache: dict[str, Any] = {"cache_enabled": True, "cache_backend": backend, "llm_provider": "offline"}
            services = Services(load_settings(_env_file=None, **store, **cache))
            services.ingest([sample_corpus()])
            name = f"a question asked before, answer from {backend}, p50 / p95 / processor, calls outside"
            yield name, asyncio.run(_measured(services)), "<= 4 ms, 0"


async def _measured(services: Services) -> str:
    outside, times = Outside(), []
    async with services.running():
        await services.chain.ainvoke(ASKED)
        embedded, processor = _embedded(services), time.process_time()
        for _ in range(TIMES):
            started = time.perf_counter()
            await services.chain.ainvoke(ASKED, {"callbacks": [outside]})
            times.append(1000 * (time.perf_counter() - started))
        used = 1000 * (time.process_time() - processor) / TIMES
    calls = outside.calls + _embedded(services) - embedded
    return "{:.1f} / {:.1f} / {:.1f} ms, {}".format(*np.percentile(times, [50, 95]), used, calls)


def _embedded(services: Services) -> int:
    return sum(services.caches.stats.of("embedding", event) for event in ("hits", "misses"))


def _redis_listens() -> bool:
    try:
        with redis.Redis.from_url(load_settings().redis.url.get_secret_value()) as client:
            return bool(client.ping())
    except redis.ConnectionError:
        return False
