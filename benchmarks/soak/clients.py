"""Clients of the soak test: some wait for the whole answer, some read a stream, some leave midway."""

import asyncio
import itertools
import string
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx

from benchmarks.load.users import events

Way = Literal["whole", "streamed", "left whole", "left streamed"]

# Of twenty clients in a row eleven wait, seven read along, two leave; the order mixes them.
WAYS: tuple[Way, ...] = (
    *("whole", "streamed", "whole", "streamed", "whole", "left streamed", "whole", "streamed", "whole", "streamed"),
    *("left whole", "whole", "streamed", "whole", "whole", "streamed", "whole", "streamed", "whole", "whole"),
)
PATIENCE_S = 120
LEAVES_AFTER_S = 0.05


@dataclass
class Told:
    """One question, how it was asked, and what came back.

    Attributes:
        outcomes: One entry for each answer that came.
        echoed: The question that the answer says it is for.
        problem: The message of an error.
        lost: What became of the connection where it ended before the answer did.
    """

    question: str
    token: str
    way: Way
    status: int = 0
    outcomes: list[str] = field(default_factory=list)
    answer: str = ""
    echoed: str = ""
    problem: str = ""
    lost: str = ""
    seconds: float = 0.0

    @property
    def left(self) -> bool:
        return self.way.startswith("left")


def asked(questions: Sequence[str], start: int, count: int) -> Iterator[Told]:
    """Yield `count` questions, no two alike: each carries a token of its own, which the model's answer repeats."""
    for number in range(start, start + count):
        token = f"ref {_letters(number)}"
        yield Told(f"{questions[number % len(questions)]} ({token})", token, WAYS[number % len(WAYS)])


def _letters(number: int) -> str:
    # Letters, because a number that no document holds would count against the answer.
    digits = [string.ascii_lowercase[number // 26**place % 26] for place in range(4)]
    return f"zq{''.join(reversed(digits))}"


async def ask_all(url: str, questions: Iterable[Told], *, at_once: int) -> list[Told]:
    """Ask all questions, so many at once, and return them with what was told."""
    waiting = iter(questions)
    done: list[Told] = []
    # A connection each: one that is kept may be closed by the service just when it is used again.
    limits = httpx.Limits(max_connections=at_once, max_keepalive_connections=0)
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S, limits=limits) as client:

        async def work() -> None:
            for told in waiting:
                started = time.perf_counter()
                await _ask(client, told)
                told.seconds = time.perf_counter() - started
                done.append(told)

        await asyncio.gather(*itertools.starmap(work, [()] * at_once))
    return done


async def _ask(client: httpx.AsyncClient, told: Told) -> None:
    try:
        if told.way == "whole":
            await _ask_whole(client, told)
        elif told.way == "left whole":
            await asyncio.wait_for(_ask_whole(client, told), LEAVES_AFTER_S)
        else:
            await _ask_streamed(client, told)
    except TimeoutError:
        if not told.left:
            raise
    except httpx.HTTPError as error:
        told.lost = f"{type(error).__name__}: {error}"


async def _ask_whole(client: httpx.AsyncClient, told: Told) -> None:
    response = await client.post("/api/query", json={"query": told.question})
    told.status = response.status_code
    body = response.json()
    if response.is_success:
        _take(told, body)
    else:
        told.problem = str(body.get("message", ""))


async def _ask_streamed(client: httpx.AsyncClient, told: Told) -> None:
    body = {"input": {"question": told.question}}
    async with client.stream("POST", "/copilot/stream", json=body) as response:
        told.status = response.status_code
        async for event, data in events(response):
            if event == "error":
                told.problem = str(data.get("message", ""))
            elif event == "data":
                _take(told, data)
            if told.left and told.answer:
                return


def _take(told: Told, part: dict[str, Any]) -> None:
    # A stream that breaks may end its fields with nothing in them, before it says why.
    told.answer += part.get("answer") or ""
    told.echoed = (part.get("metadata") or {}).get("query", told.echoed)
    if part.get("outcome"):
        told.outcomes.append(part["outcome"])
