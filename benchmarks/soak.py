"""Ask 2,000 questions while one call of the provider in five fails, and print what was promised and held: `make soak`.

The service and a faulty provider run as two processes. Some clients wait for the whole answer, some read a stream, some
leave midway. The service has a route beside the product's own that reports tasks, connections and memory.
"""

import argparse
import asyncio
import gc
import itertools
import signal
import string
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import numpy as np
import psutil
from fastapi import FastAPI

import app.cli
import app.http.server
from app.http.server import create_app
from app.wiring import Service
from benchmarks.figures import report
from benchmarks.load import events
from benchmarks.offline import questions
from benchmarks.processes import PATIENCE_S, language_model, service
from benchmarks.tables import table, verdicts

PROBE = "/probe"
SETTLE_S = 90
QUIET_S = 6  # Longer than the service keeps idle connections.
LEAVES_AFTER_S = 0.05
SETTINGS = {"LLM_API_KEY": "gsk_soak", "LLM_TIMEOUT_S": "20", "LOG_LEVEL": "error"}
RETRIES = 3
MEMORY_GROWTH = 0.05
ANSWERED = "answer"
CONNECTIONS_IN_USE = 2  # That of the one who asks for the number, and one that is kept for the provider's next call.
# Of twenty clients in a row eleven wait, seven read along, two leave; the order mixes them.
WAYS = (
    *("whole", "streamed", "whole", "streamed", "whole", "left streamed", "whole", "streamed", "whole", "streamed"),
    *("left whole", "whole", "streamed", "whole", "whole", "streamed", "whole", "streamed", "whole", "whole"),
)


@dataclass
class Told:
    """One question, how it was asked, and what came back.

    Attributes:
        way: Of `WAYS`.
        outcomes: One entry for each answer that came.
        echoed: The question that the answer says it is for.
        problem: The message of an error.
        lost: What became of the connection where it ended before the answer did.
    """

    question: str
    token: str
    way: str
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


class Claim(NamedTuple):
    """A sentence, what was measured, and whether the sentence is true."""

    sentence: str
    measured: str
    held: bool


@dataclass(frozen=True)
class Soak:
    """All that a soak brought.

    Attributes:
        told: What each client was told.
        calls: What the provider was asked after the warm-up, as pairs of the question and what was done with it.
        before: What the process held after the warm-up.
        after: What it held when all was done.
        seconds: How long it took.
    """

    told: Sequence[Told]
    calls: Sequence[tuple[str, str]]
    before: Mapping[str, int]
    after: Mapping[str, int]
    seconds: float


def main() -> None:
    if sys.argv[1:2] == ["serve"]:
        app.http.server.create_app = probed
        return app.cli.main()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=2_000)
    parser.add_argument("--warm-up", type=int, default=300)
    parser.add_argument("--at-once", type=int, default=50)
    parser.add_argument("--faults", type=float, default=0.2)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # So that the other processes are ended too.
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        provider = stack.enter_context(language_model(delay_ms=100, faults=given.faults))
        settings = SETTINGS | {"LLM_BASE_URL": provider}
        running = stack.enter_context(service(folder, program=("-m", "benchmarks.soak"), **settings))
        soak = asyncio.run(_soak(running.url, provider, given))
    found = list(claims(soak))
    report("soak", table(("", ""), figures(soak)), verdicts(found), is_kept=given == parser.parse_args([]))
    sys.exit(not all(claim.held for claim in found))


async def probe() -> dict[str, int]:
    """Return the tasks of the event loop, the open internet connections, and the resident memory in bytes."""
    gc.collect()
    process = psutil.Process()
    connections = [one for one in process.net_connections("inet") if one.status != psutil.CONN_LISTEN]
    return {"tasks": len(asyncio.all_tasks()), "connections": len(connections), "memory": process.memory_info().rss}


def probed(services: Service) -> FastAPI:
    """Return the product's application with the probe in front of its own routes."""
    application = create_app(services)
    application.add_api_route(PROBE, probe)
    application.router.routes.insert(0, application.router.routes.pop())
    return application


async def _soak(url: str, provider: str, given: argparse.Namespace) -> Soak:
    some, every = questions("answerable"), given.warm_up + given.questions
    await ask_all(url, asked(some, 0, given.warm_up), at_once=given.at_once)
    before = await _held(url, next(asked(some, every, 1)))
    earlier = len(await _calls(provider))
    started = time.perf_counter()
    told = await ask_all(url, asked(some, given.warm_up, given.questions), at_once=given.at_once)
    seconds = time.perf_counter() - started
    last = next(asked(some, every + 1, 1))
    after = await _held(url, last)
    calls = [(question, deed) for question, deed in await _calls(provider) if question != last.question]
    return Soak(told, calls[earlier:], before, after, seconds)


async def _calls(provider: str) -> list[tuple[str, str]]:
    async with httpx.AsyncClient() as client:
        return [(question, deed) for question, deed in (await client.get(f"{provider}/received")).json()["calls"]]


async def _held(url: str, last: Told) -> dict[str, int]:
    """Return what the service holds when it has come to rest; the `last` question makes it drop idle connections."""
    async with httpx.AsyncClient(base_url=url) as client:
        deadline, quiet_since, tasks = time.monotonic() + SETTLE_S, time.monotonic(), -1
        while time.monotonic() < min(deadline, quiet_since + QUIET_S):
            if (now := (await client.get(PROBE)).json()["tasks"]) != tasks:
                quiet_since, tasks = time.monotonic(), now
            await asyncio.sleep(0.5)
        await ask_all(url, [replace(last, way="whole")], at_once=1)
        await asyncio.sleep(1)
        held: dict[str, int] = (await client.get(PROBE)).json()
        return held


def asked(questions: Sequence[str], start: int, count: int) -> Iterator[Told]:
    """Yield `count` questions, no two alike: each carries a token of its own, which the model's answer repeats."""
    for number in range(start, start + count):
        # Letters, because a number that no document holds would count against the answer.
        letters = "".join(string.ascii_lowercase[number // 26**place % 26] for place in (3, 2, 1, 0))
        token = f"ref zq{letters}"
        yield Told(f"{questions[number % len(questions)]} ({token})", token, WAYS[number % len(WAYS)])


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


def claims(soak: Soak) -> Iterator[Claim]:
    """Yield the promises of the service, each held against what clients, provider and service report."""
    stayed = [told for told in soak.told if not told.left]
    silent = [told for told in stayed if told.lost or not (told.problem or told.outcomes)]
    yield Claim("every client that stays gets an answer or a clear error", f"{len(silent)} got neither", not silent)
    twice = [told for told in stayed if len(told.outcomes) > 1 or told.answer.count(told.token) > 1]
    yield Claim("nobody is answered twice", f"{len(twice)} were", not twice)
    strange = [told for told in stayed if told.outcomes and told.echoed != told.question]
    yield Claim("everybody gets the answer to their own question", f"{len(strange)} did not", not strange)
    yield from _claims_of_calls(soak, stayed)
    before, after = soak.before["tasks"], soak.after["tasks"]
    yield Claim("no task is left", f"{before} before, {after} after", after <= before)
    after = soak.after["connections"]
    yield Claim("no connection is left but the two in use", f"{after} after", after <= CONNECTIONS_IN_USE)
    before, growth = soak.before["memory"], soak.after["memory"] / soak.before["memory"] - 1
    sentence = f"memory grows by less than {MEMORY_GROWTH:.0%}"
    yield Claim(sentence, f"{before / 2**20:.0f} MB, {growth:+.1%}", growth < MEMORY_GROWTH)


def _claims_of_calls(soak: Soak, stayed: Sequence[Told]) -> Iterator[Claim]:
    deeds: defaultdict[str, list[str]] = defaultdict(list)
    for question, deed in soak.calls:
        deeds[question].append(deed)
    strange = set(deeds).difference(told.question for told in soak.told)
    calls = f"{sum(len(deeds[question]) for question in strange)} of {len(soak.calls)} are not"
    yield Claim("every call is about the question of a client", calls, bool(soak.calls) and not strange)
    # A claim about calls that nobody saw holds nothing, so both of these need some.
    most = max(len(deeds[told.question]) for told in soak.told)
    yield Claim(f"a question makes at most {1 + RETRIES} calls", f"at most {most}", 0 < most <= 1 + RETRIES)
    answered = [deeds[told.question] for told in soak.told if ANSWERED in deeds[told.question]]
    again = sum(ANSWERED in each[:-1] for each in answered)
    sentence = "no question that was answered is asked again"
    yield Claim(sentence, f"{again} of {len(answered)} were", bool(answered) and again == 0)
    said = [told for told in stayed if "answered" in told.outcomes]
    untrue = [told for told in said if ANSWERED not in deeds[told.question] or told.token not in told.answer]
    yield Claim("`answered` means that the model answered", f"{len(untrue)} were untrue", not untrue)


def figures(soak: Soak) -> Iterator[tuple[str, str]]:
    stayed = [told for told in soak.told if not told.left]
    seconds = [told.seconds for told in stayed]
    yield "questions", f"{len(soak.told)} in {soak.seconds:.0f} s"
    yield "clients that left in the middle", str(len(soak.told) - len(stayed))
    for outcome, count in Counter(told.outcomes[0] for told in stayed if told.outcomes).most_common():
        yield f"outcome `{outcome}`", str(count)
    for status, count in sorted(Counter(_error(told) for told in stayed if not told.outcomes).items()):
        yield f"error `{status}`", str(count)
    failed = sum(deed != ANSWERED for _, deed in soak.calls)
    yield "calls of the provider, failed", f"{len(soak.calls)}, {failed / max(len(soak.calls), 1):.0%}"
    longest = (*np.percentile(seconds, [50, 95]), max(seconds))
    yield "seconds a question, p50 / p95 / longest", " / ".join(f"{value:.1f}" for value in longest)


def _error(told: Told) -> str:
    if not told.problem:
        return told.lost
    return f"{told.problem} (in a stream)" if told.way == "streamed" else f"{told.status}: {told.problem}"


if __name__ == "__main__":
    main()
