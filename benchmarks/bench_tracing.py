"""Measure what tracing costs an answer, with a backend that works and with backends in trouble.

`python -m benchmarks.bench_tracing [N]` asks N questions in each condition, in turn, so that a noisy machine bothers
all conditions alike. The language model is a pause of half a second.
"""

import asyncio
import multiprocessing
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel, FakeListChatModel

from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wiring import Parts, Services, sample_corpus

QUESTION: Any = {"question": "What is the GST rate on imports into Singapore?"}
PAUSE_S = 0.5
AT_ONCE = 4


def main(questions: int) -> None:
    """Ask in every condition and print a table of times and ratios."""
    configure_logs("error")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        plain = Services(load_settings(_env_file=None, chroma_path=folder, llm_provider="offline"))
        plain.ingest([sample_corpus()])
        urls = {
            "a backend that takes them": stack.enter_context(_backend(200)),
            "nobody listening": "http://127.0.0.1:9",
            "a backend that hangs": stack.enter_context(_backend(None)),
            "a backend that answers 429": stack.enter_context(_backend(429)),
        }
        conditions = {"no tracing": _desk(plain, None)} | {name: _desk(plain, url) for name, url in urls.items()}
        times = asyncio.run(_ask_in_turn(conditions, questions))
        _print_table(times, conditions)
        _print_endings(conditions)


def _desk(plain: Services, url: str | None) -> Services:
    there = {} if url is None else {"langsmith_tracing": True, "langsmith_endpoint": url}
    there |= {} if url is None else {"otel_exporter_otlp_endpoint": url}
    parts = Parts(embeddings=plain.embeddings, model=_model())
    return Services(plain.settings.replace(**there), parts=parts)


def _model() -> BaseChatModel:
    return FakeListChatModel(responses=["Import GST is 9 % [Singapore GST Guide > Rate]."], sleep=PAUSE_S)


async def _ask_in_turn(conditions: dict[str, Services], questions: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in conditions}
    for services in conditions.values():
        await services.chain.ainvoke(QUESTION)
    for _ in range(questions // AT_ONCE):
        for name, services in conditions.items():
            times[name] += await asyncio.gather(*(_ask(services) for _ in range(AT_ONCE)))
    return times


async def _ask(services: Services) -> float:
    started = time.perf_counter()
    await services.chain.ainvoke(QUESTION)
    return time.perf_counter() - started


def _print_table(times: dict[str, list[float]], conditions: dict[str, Services]) -> None:
    print("| traces go to | p50 ms | p95 ms | p95 against no tracing | sent | dropped |")
    print("|---|---|---|---|---|---|")
    base = _p95(times["no tracing"])
    for name, seconds in times.items():
        export = conditions[name].tracing.exports.get("langsmith")
        counts = f"{export.sent} | {export.dropped}" if export else " | "
        p50, p95 = statistics.median(seconds), _p95(seconds)
        print(f"| {name} | {1000 * p50:.0f} | {1000 * p95:.0f} | {p95 / base:.3f} | {counts} |")


def _print_endings(conditions: dict[str, Services]) -> None:
    for name, services in conditions.items():
        started = time.perf_counter()
        services.tracing.close()
        print(f"closing, {name}: {time.perf_counter() - started:.2f} s")


def _p95(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=20)[-1]


@contextmanager
def _backend(status: int | None) -> Iterator[str]:
    """Run a backend in a process of its own: it answers with `status`, or not at all."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(status, theirs), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}"
    finally:
        process.terminate()
        process.join()


def _serve(status: int | None, port: Connection) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            if status is None:
                threading.Event().wait()
                return
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    port.send(server.server_port)
    server.serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
