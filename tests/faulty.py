"""A Groq server on loopback that follows a script of faults, or fails at random.

    python -m tests.faulty --port 8099 --delay-ms 150 --faults 0.2 --seed 7

`GET /received` tells what it was asked and did, and how many connections are open.
"""

import argparse
import asyncio
import random
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from tests.completions import question_of
from tests.exchange import Exchange, Pace, read_exchange
from tests.faults import ACCIDENTS, DEEDS

BACKLOG = 1024
Server = TypeVar("Server", bound="FaultyGroq")


@dataclass(frozen=True)
class Received:
    body: dict[str, Any]
    deed: str


@dataclass
class FaultyGroq:
    """What the server does next, and what it was asked so far."""

    told_at: ClassVar[str] = "/received"
    share: float = 0.0
    seed: int = 0
    pace: Pace = field(default_factory=Pace)
    keep_alive: bool = False
    url: str = ""
    script: list[str] = field(default_factory=list)
    always: str = "answer"
    received: list[Received] = field(default_factory=list)
    connections: int = 0

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311 (It decides on accidents.)

    def next_deed(self) -> str:
        """Return the name of the next deed: of the script, or by chance, or the usual one."""
        if self.script:
            return self.script.pop(0)
        return self._random.choice(ACCIDENTS) if self._random.random() < self.share else self.always

    async def serve(self, listener: socket.socket, stopped: asyncio.Event) -> None:
        """Answer what comes in until `stopped` is set."""
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        tasks: set[asyncio.Task[None]] = set()

        async def follow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task
            tasks.add(task)
            with suppress(asyncio.CancelledError):  # Which asyncio before 3.12 would report as a broken handler.
                await self._follow(reader, writer)
            tasks.discard(task)

        async with await asyncio.start_server(follow, sock=listener, backlog=BACKLOG) as server:
            await stopped.wait()
            server.close()
            await asyncio.sleep(0)  # Who has just connected is followed first, or nobody would end that task.
            while tasks:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _follow(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        # asyncio leaves it out for a socket that was made elsewhere; a reply in two writes would take 40 ms more.
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                while await self._answer(reader, writer):
                    pass
        finally:
            self.connections -= 1
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        exchange = await read_exchange(reader, writer, pace=self.pace, keep_alive=self.keep_alive)
        if exchange.path == self.told_at:
            await exchange.send_json(200, self.report())
        elif not exchange.path.endswith("/chat/completions"):
            await exchange.send_json(404, {"error": {"message": f"no route {exchange.path}"}})
        else:
            await self._do(exchange)
        return exchange.keep_alive

    async def _do(self, exchange: Exchange) -> None:
        name = self.next_deed()
        self.received.append(Received(exchange.body, name))
        await DEEDS[name](exchange)

    def report(self) -> dict[str, Any]:
        """Return the questions with what was done about them, and the number of open connections."""
        calls = [[question_of(received.body), received.deed] for received in self.received]
        return {"connections": self.connections, "calls": calls}


@contextmanager
def faulty_groq(**options: Any) -> Iterator[FaultyGroq]:
    with running(FaultyGroq(**options)) as groq:
        yield groq


@contextmanager
def running(groq: Server) -> Iterator[Server]:
    listener = socket.create_server(("127.0.0.1", 0))
    loop = asyncio.new_event_loop()
    stopped = asyncio.Event()
    groq.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    thread = threading.Thread(target=_run, args=(loop, groq.serve(listener, stopped)), daemon=True)
    thread.start()
    try:
        yield groq
    finally:
        loop.call_soon_threadsafe(stopped.set)
        thread.join()
        loop.close()
        listener.close()


def _run(loop: asyncio.AbstractEventLoop, serving: Any) -> None:
    asyncio.set_event_loop(loop)
    loop.run_until_complete(serving)


def main() -> None:
    """Serve until interrupted; the address is printed first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay-ms", type=float, default=0)
    parser.add_argument("--word-ms", type=float, default=0)
    parser.add_argument("--faults", type=float, default=0, help="the share of requests that fail")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    pace = Pace(thinking_s=given.delay_ms / 1000, word_s=given.word_ms / 1000)
    groq = FaultyGroq(share=given.faults, seed=given.seed, pace=pace, keep_alive=True)
    with socket.create_server(("127.0.0.1", given.port)) as listener, suppress(KeyboardInterrupt):
        print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)  # noqa: T201
        asyncio.run(groq.serve(listener, asyncio.Event()))


if __name__ == "__main__":
    main()
