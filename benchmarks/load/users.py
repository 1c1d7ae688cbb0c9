"""Users of a load test: each asks again as soon as it is answered."""

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import httpx

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


async def ask_all(
    url: str,
    questions: list[str],
    ask: Ask,
    *,
    users: int,
    warm_s: float,
    seconds: float,
    mark: Callable[[], None] = lambda: None,
) -> list[Sample]:
    """Return a sample for each answer that so many users were given in so many seconds, and for each error.

    Answers of the first `warm_s` seconds do not count: the users begin all at once, as they never do again. Nor do
    those that are waited for after the end; an error counts whenever it comes. `mark` is called at beginning and end.
    """
    clients = [httpx.AsyncClient(base_url=url, timeout=60) for _ in range(-(-users // USERS_A_CLIENT))]
    start, turn, samples = time.perf_counter() + warm_s, itertools.count(), list[Sample]()
    end = start + seconds

    async def user(client: httpx.AsyncClient) -> None:
        while time.perf_counter() < end:
            number = next(turn)  # No question is asked twice: nothing of an answer may be there already.
            sample = await _told(ask, client, f"{questions[number % len(questions)]} (case {number})")
            if sample.error or start <= time.perf_counter() < end:
                samples.append(sample)

    async def marking() -> None:
        for seconds_on in (warm_s, seconds):
            await asyncio.sleep(seconds_on)
            mark()

    try:
        await asyncio.gather(marking(), *(user(clients[number % len(clients)]) for number in range(users)))
    finally:
        for client in clients:
            await client.aclose()
    return samples


async def _told(ask: Ask, client: httpx.AsyncClient, question: str) -> Sample:
    try:
        return await ask(client, question)
    except (httpx.HTTPError, KeyError, ValueError) as error:
        return Sample(whole=0, error=type(error).__name__)


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
    async for part in _parts(client, question):
        if first_event is None and "documents" in part:
            first_event = 1000 * (time.perf_counter() - started)
        if first_words is None and part.get("answer"):
            first_words = 1000 * (time.perf_counter() - started)
    return Sample(1000 * (time.perf_counter() - started), first_event=first_event, first_words=first_words)


async def _parts(client: httpx.AsyncClient, question: str) -> AsyncIterator[dict[str, Any]]:
    async with client.stream("POST", "/copilot/stream", json={"input": {"question": question}}) as response:
        response.raise_for_status()
        async for event, data in events(response):
            if event == "error":
                raise ValueError(data)
            if event == "data":
                yield data


async def events(response: httpx.Response) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the data of each event of a stream."""
    event = ""
    async for line in response.aiter_lines():
        name, _, value = line.partition(": ")
        if name == "event":
            event = value
        elif name == "data":
            yield event, json.loads(value)
