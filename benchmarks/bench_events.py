"""Measure what becomes of events, and of the time to an answer, while the broker is away: `make bench-events`.

A real service, users who ask again as soon as they are answered, a real RabbitMQ, and between the two a proxy that
breaks every connection and refuses new ones for a while. Exits 1 unless every event arrived, and in order.
Events that were sent again after a lost confirm are counted.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import aio_pika
import httpx
import typer

from benchmarks.proxy import Proxy

ROOT = Path(__file__).parents[1]
SERVICE_PORT = 38_419
TOPICS = ("VGM", "a certificate of origin", "a reefer container", "an import permit", "a CIF price", "a booking")
EVENTS = ["QuerySubmitted", "ResponseGenerated", "AnswerGenerated"]
PATIENCE_S = 120


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: when it was asked, how long it took, and how many events it is worth."""

    at: float
    seconds: float
    events: int


@dataclass
class Load:
    """Users who ask questions that carry the `mark`, until they are told to stop."""

    mark: str = field(default_factory=lambda: uuid4().hex)
    answered: list[Asked] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    ended: bool = False

    async def user(self, name: int) -> None:
        """Ask one question after the other."""
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{SERVICE_PORT}", timeout=60) as client:
            number = 0
            while not self.ended:
                number += 1
                await self._ask(client, f"What is {TOPICS[number % len(TOPICS)]}? ({self.mark} {name}-{number})")

    async def _ask(self, client: httpx.AsyncClient, question: str) -> None:
        at = time.monotonic()
        response = await client.post("/api/query", json={"query": question})
        if not response.is_success:
            self.failed.append(response.status_code)
            return
        found = response.json()["metadata"]["chunksRetrieved"]
        self.answered.append(Asked(at, time.monotonic() - at, len(EVENTS) if found else 1))


def main(
    users: Annotated[int, typer.Option(min=1)] = 16,
    away: Annotated[float, typer.Option(min=0, help="Seconds without the broker.")] = 30,
    before: Annotated[float, typer.Option(min=1, help="Seconds with it, before and after.")] = 10,
    port: Annotated[int, typer.Option(help="Where RabbitMQ listens on 127.0.0.1, for guest.")] = 5672,
) -> None:
    """Measure, print a table, and exit 1 if an event is missing or out of order."""
    if not asyncio.run(measure(users=users, away=away, before=before, port=port)):
        sys.exit(1)


async def measure(*, users: int, away: float, before: float, port: int) -> bool:
    """Run the load through the outage, and return whether every event arrived in order."""
    load = Load()
    async with Proxy(port) as proxy, listening(port, load.mark) as queue, serving(proxy.port):
        asking = [asyncio.create_task(load.user(name)) for name in range(users)]
        await asyncio.sleep(before)
        cut = time.monotonic()
        await proxy.cut()
        await asyncio.sleep(away)
        await proxy.restore()
        back = time.monotonic()
        await asyncio.sleep(before)
        load.ended = True
        await asyncio.gather(*asking)
        expected = sum(asked.events for asked in load.answered)
        caught_up = await arrived(port, queue, expected)
        events = [event for event in await received(port, queue) if load.mark in event["payload"]["query"]]
    print_phases(load.answered, cut, back)
    return print_events(load, events, expected, caught_up)


@asynccontextmanager
async def serving(proxy: int) -> AsyncIterator[None]:
    """Run a service of its own over the sample corpus, without a language model."""
    with tempfile.TemporaryDirectory() as folder:
        events = Path(folder) / "events.sqlite3"
        environment = {
            "PATH": os.defpath,
            "HOME": str(Path.home()),
            "PYTHONPATH": str(ROOT),
            "LLM_PROVIDER": "offline",
            "RATE_LIMIT": "1000000/minute",
            "RABBITMQ_URL": f"amqp://guest:guest@127.0.0.1:{proxy}/",
            "EVENTS_PATH": str(events),
        }
        command = [sys.executable, "-c", "from app.cli import main; main()", "serve", "--port", str(SERVICE_PORT)]
        process = await asyncio.create_subprocess_exec(
            *command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            await _until_up()
            yield
        finally:
            process.terminate()
            await process.wait()


async def _until_up() -> None:
    async with asyncio.timeout(PATIENCE_S), httpx.AsyncClient() as client:
        while True:
            try:
                await client.get(f"http://127.0.0.1:{SERVICE_PORT}/api/health")
            except httpx.TransportError:
                await asyncio.sleep(0.2)
            else:
                return


@asynccontextmanager
async def listening(port: int, mark: str) -> AsyncIterator[str]:
    """Keep a durable queue that gets every event while the body runs; it survives the broker's own end, too."""
    queue = f"bench.{mark}"
    async with broker(port) as channel:
        exchange = await channel.declare_exchange("events", aio_pika.ExchangeType.TOPIC, durable=True)
        await (await channel.declare_queue(queue, durable=True)).bind(exchange, "#")
    try:
        yield queue
    finally:
        async with broker(port) as channel:
            await channel.queue_delete(queue)


@asynccontextmanager
async def broker(port: int) -> AsyncIterator[aio_pika.abc.AbstractChannel]:
    """Open a channel to the broker itself."""
    async with await aio_pika.connect(f"amqp://guest:guest@127.0.0.1:{port}/") as connection:
        yield await connection.channel()


async def arrived(port: int, queue: str, count: int) -> float:
    """Wait until the queue holds so many messages, or long enough; return the time."""
    deadline = time.monotonic() + PATIENCE_S
    async with broker(port) as channel:
        while time.monotonic() < deadline:
            declared = await channel.declare_queue(queue, durable=True, passive=True)
            if (declared.declaration_result.message_count or 0) >= count:
                break
            await asyncio.sleep(0.1)
    return time.monotonic()


async def received(port: int, queue: str) -> list[dict[str, Any]]:
    """Return the events in the queue, in order."""
    events = []
    async with broker(port) as channel:
        waiting = await channel.declare_queue(queue, durable=True, passive=True)
        while message := await waiting.get(fail=False, no_ack=True):
            events.append(json.loads(message.body))
    return events


def print_phases(answered: Sequence[Asked], cut: float, back: float) -> None:
    """Print how long answers took before, during and after the outage."""
    phases = {
        "before": [asked for asked in answered if asked.at < cut],
        "away": [asked for asked in answered if cut <= asked.at < back],
        "back": [asked for asked in answered if asked.at >= back],
    }
    print("| the broker | answers | p50 ms | p95 ms |\n|---|---|---|---|")
    for name, asked in phases.items():
        times = sorted(1000 * each.seconds for each in asked)
        p95 = times[min(len(times) - 1, len(times) * 95 // 100)]
        print(f"| {name} | {len(times)} | {statistics.median(times):.0f} | {p95:.0f} |")


def print_events(load: Load, events: Sequence[dict[str, Any]], expected: int, caught_up: float) -> bool:
    """Print what became of the events, and return whether that is as it should be."""
    arrivals: dict[str, dict[str, Any]] = {}
    for event in events:
        arrivals.setdefault(event["eventId"], event)
    first = list(arrivals.values())
    twice = len(events) - len(first)
    disordered = out_of_order(first)
    last = max(asked.at + asked.seconds for asked in load.answered)
    print("\n| published | received | sent again | out of order | failed answers | caught up after the last answer |")
    print("|---|---|---|---|---|---|")
    counts = f"| {expected} | {len(first)} | {twice} | {disordered} | {len(load.failed)} "
    print(f"{counts}| {max(0.0, caught_up - last):.1f} s |")
    if load.failed:
        print(f"\nfailed with {sorted(set(load.failed))}")
    return len(first) == expected and not (disordered or load.failed)


def out_of_order(events: Sequence[dict[str, Any]]) -> int:
    """Return how many events came after a later one, or out of their request's own order."""
    times = [str(event["timestamp"]) for event in events]
    late = sum(earlier > later for earlier, later in pairwise(times))
    requests: dict[str, list[str]] = {}
    for event in events:
        requests.setdefault(event["correlationId"], []).append(event["eventType"])
    return late + sum(kinds != EVENTS[: len(kinds)] for kinds in requests.values())


if __name__ == "__main__":
    typer.run(main)
