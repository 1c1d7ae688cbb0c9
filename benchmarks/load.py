"""Load the service, beside a bare route, and print the table: `make load`.

The language model is a server that takes half a second for each answer. Each user asks again as soon as it is answered.

Service, model and users share the cores of this machine, and everything is on loopback. The shares of a run can be
compared with each other; milliseconds of another run on another day cannot.
"""

import argparse
import asyncio
import itertools
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
import uvicorn
from fastapi import FastAPI

from benchmarks.figures import report
from benchmarks.offline import questions
from benchmarks.processes import free_port, language_model, listening, responds, service, wait_until
from benchmarks.tables import table, verdicts

MODEL_MS = 500  # What the language model takes for an answer, or until the first word of a stream.
QUERY, STREAM = "`/api/query`", "`/copilot/stream`"
HEAD = (
    *("asked", "users", "answers a second", "errors", "p50 / p95"),
    *("beside the model p50 / p95", "processor an answer"),
)
SECONDS, WARM_S, USERS = 15.0, 3.0, (16, 50, 200)
SETTINGS = {"LLM_API_KEY": "gsk_load", "LOG_LEVEL": "error"}
USERS_A_CLIENT = 10  # httpx looks through all connections of a client at each request.


@dataclass(frozen=True)
class Sample:
    """One answer, in milliseconds.

    Attributes:
        whole: Until its last byte.
        handler: What the service itself says it took, the language model's time included; None where it does not say.
        first_event: Until the first event of a stream.
        first_words: Until the first words of a stream.
        error: What went wrong.
    """

    whole: float
    handler: float | None = None
    first_event: float | None = None
    first_words: float | None = None
    error: str = ""


Ask = Callable[[httpx.AsyncClient, str], Coroutine[Any, Any, Sample]]


@dataclass(frozen=True)
class Measured:
    """A load and what came of it; `used` are the seconds of a processor that the service took, where it was watched."""

    name: str
    users: int
    seconds: float
    samples: Sequence[Sample]
    used: float = 0.0

    @property
    def good(self) -> list[Sample]:
        return [sample for sample in self.samples if not sample.error]

    @property
    def rate(self) -> float:
        return len(self.good) / self.seconds

    @property
    def errors(self) -> int:
        return len(self.samples) - len(self.good)

    def times(self, name: str) -> list[float]:
        """Return what the samples say of a time, less what the model took of it where the service waited for that."""
        model_ms = MODEL_MS if name in {"handler", "first_words"} else 0
        return [value - model_ms for sample in self.good if (value := getattr(sample, name)) is not None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="How long each load lasts.")
    parser.add_argument("--warm-s", type=float, default=WARM_S, help="How long each load runs before it is measured.")
    parser.add_argument("--users", type=int, nargs=3, default=USERS, help="How many users: few, some and many.")
    given = parser.parse_args()
    seconds, warm_s, users = given.seconds, given.warm_s, tuple(given.users)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        model = stack.enter_context(language_model(delay_ms=MODEL_MS))
        running = stack.enter_context(service(folder, **SETTINGS, LLM_BASE_URL=model))
        bare = stack.enter_context(listening("benchmarks.load", "bare", model))
        wait_until(lambda: responds(f"{bare}/openapi.json"))
        process = psutil.Process(running.process.pid)
        loads = [
            *(("bare route", bare, whole, number, None) for number in users),
            *((QUERY, running.url, whole, number, process) for number in users),
            *((STREAM, running.url, streamed, number, process) for number in (1, users[0])),
        ]
        found = [measured(*load, seconds=seconds, warm_s=warm_s) for load in loads]
    is_usual = (seconds, warm_s, users) == (SECONDS, WARM_S, USERS)
    report("load", table(HEAD, map(row, found)), aims(found, users), is_kept=is_usual)


def measured(
    name: str, url: str, ask: Ask, users: int, watched: psutil.Process | None, *, seconds: float, warm_s: float
) -> Measured:
    """Load the service for so many seconds after `warm_s`, and return what came of it."""

    async def used() -> float:
        """Return the seconds of a processor that the service takes from the beginning to the end."""
        await asyncio.sleep(warm_s)
        before = sum(watched.cpu_times()[:2]) if watched else 0.0  # Of the user and the system.
        await asyncio.sleep(seconds)
        return sum(watched.cpu_times()[:2]) - before if watched else 0.0

    async def loaded() -> tuple[list[Sample], float]:
        asking = ask_all(url, questions("answerable"), ask, users=users, warm_s=warm_s, seconds=seconds)
        return await asyncio.gather(asking, used())

    return Measured(name, users, seconds, *asyncio.run(loaded()))


def row(load: Measured) -> list[str]:
    beside = _both(load.times("handler"))
    if events := load.times("first_event"):  # A sentence of a stream is checked whole before its words are shown.
        beside = f"first event {_both(events)}, first words {_both(load.times('first_words'))}"
    used = f"{1000 * load.used / max(len(load.good), 1):.1f} ms" if load.used else ""
    whole = _both(load.times("whole"))
    return [load.name, str(load.users), f"{load.rate:.1f}", str(load.errors), whole, beside, used]


def aims(loads: Sequence[Measured], users: tuple[int, int, int] = USERS) -> str:
    by = {(load.name, load.users): load for load in loads}
    few, some, many = (by[QUERY, number] for number in users)
    as_many = f"{many.rate / some.rate:.2f} x" if some.rate else "none had any"
    first = by[STREAM, few.users].times("first_event")
    return verdicts(
        [
            (f"{few.users} users: p95 beside the model at most 25 ms", *_within(few.times("handler"), 25)),
            (f"{some.users} users: no error", str(some.errors), not some.errors),
            (f"{some.users} users: p95 at most 900 ms", *_within(some.times("whole"), 900)),
            (f"{many.users} users: no error", str(many.errors), not many.errors),
            (f"{many.users} users: as many answers a second as {some.users} have", as_many, many.rate >= some.rate),
            (f"first event of a stream within 150 ms, {few.users} users", *_within(first, 150)),
        ]
    )


def _within(values: Sequence[float], most_ms: float) -> tuple[str, bool]:
    p95 = float(np.percentile(values, 95)) if values else float("inf")
    return f"{p95:.0f} ms", p95 <= most_ms


def _both(values: Sequence[float]) -> str:
    return " / ".join(f"{value:.0f} ms" for value in np.percentile(values, [50, 95])) if values else ""


async def ask_all(
    url: str, questions: list[str], ask: Ask, *, users: int, warm_s: float, seconds: float
) -> list[Sample]:
    """Return a sample for each answer that so many users were given in so many seconds, and for each error.

    Answers of the first `warm_s` seconds do not count: the users begin all at once, as they never do again. Nor do
    those that are waited for after the end; an error counts whenever it comes.
    """
    clients = [httpx.AsyncClient(base_url=url, timeout=60) for _ in range(-(-users // USERS_A_CLIENT))]
    start, turn, samples = time.perf_counter() + warm_s, itertools.count(), list[Sample]()
    end = start + seconds

    async def user(client: httpx.AsyncClient) -> None:
        while time.perf_counter() < end:
            number = next(turn)  # No question is asked twice: nothing of an answer may be there already.
            try:
                sample = await ask(client, f"{questions[number % len(questions)]} (case {number})")
            except (httpx.HTTPError, KeyError, ValueError) as error:
                sample = Sample(whole=0, error=type(error).__name__)
            if sample.error or start <= time.perf_counter() < end:
                samples.append(sample)

    try:
        await asyncio.gather(*(user(clients[number % len(clients)]) for number in range(users)))
    finally:
        for client in clients:
            await client.aclose()
    return samples


async def whole(client: httpx.AsyncClient, question: str) -> Sample:
    started = time.perf_counter()
    response = await client.post("/api/query", json={"query": question})
    took = 1000 * (time.perf_counter() - started)
    if response.status_code != httpx.codes.OK:
        return Sample(took, error=str(response.status_code))
    answer = response.json()
    if answer["outcome"] == "degraded":
        return Sample(took, error="degraded")
    return Sample(took, handler=answer.get("metadata", {}).get("latencyMs"))


async def streamed(client: httpx.AsyncClient, question: str) -> Sample:
    started = time.perf_counter()
    first_event = first_words = None
    async with client.stream("POST", "/copilot/stream", json={"input": {"question": question}}) as response:
        response.raise_for_status()
        async for event, data in events(response):
            if event == "error":
                raise ValueError(data)
            if first_event is None and event == "data" and "documents" in data:
                first_event = 1000 * (time.perf_counter() - started)
            if first_words is None and event == "data" and data.get("answer"):
                first_words = 1000 * (time.perf_counter() - started)
    return Sample(1000 * (time.perf_counter() - started), first_event=first_event, first_words=first_words)


async def events(response: httpx.Response) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the data of each event of a stream."""
    event = ""
    async for line in response.aiter_lines():
        name, _, value = line.partition(": ")
        if name == "event":
            event = value
        elif name == "data":
            yield event, json.loads(value)


def bare_route(provider: str) -> FastAPI:
    """Return an application whose one route only calls the language model, and answers like the service's."""
    client = httpx.AsyncClient(limits=httpx.Limits(max_connections=1000, max_keepalive_connections=100), timeout=60)
    app = FastAPI()

    @app.post("/api/query")
    async def query(body: dict[str, Any]) -> dict[str, Any]:
        asked = {"model": "m", "messages": [{"role": "user", "content": body["query"]}]}
        reply = (await client.post(f"{provider}/openai/v1/chat/completions", json=asked)).json()
        return {"answer": reply["choices"][0]["message"]["content"], "outcome": "answered"}

    return app


if __name__ == "__main__":
    if sys.argv[1:2] == ["bare"]:
        port = free_port()
        print(f"http://127.0.0.1:{port}", flush=True)
        uvicorn.run(bare_route(sys.argv[2]), port=port, log_level="error", access_log=False)
    else:
        main()
