"""Many requests at once over the client of the chat models: no pool stays full, no connection is forgotten."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import httpx
import pytest

from app.adapters.http_client import POOL_SIZE, async_client
from tests.waiting import await_until

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Desk:
    """A server that lets all who have come wait until `open` is set, and breaks off under /broken."""

    def __init__(self) -> None:
        self.connections = self.left = self.waiting = 0
        self.open = asyncio.Event()
        self.url = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                if b"/broken" in head:
                    return
                self.waiting += 1
                await self.open.wait()
                writer.write(REPLY)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.left += 1
            writer.close()


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    desk = Desk()
    server = await asyncio.start_server(desk.answer, "127.0.0.1", 0)
    desk.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield desk
    server.close()


def busy(client: httpx.AsyncClient) -> list[int]:
    """Return how many requests each pool has under way."""
    return [pool.busy for pool in cast("Any", client)._transport._pools]


async def test_one_request_after_another_uses_one_connection(desk):
    desk.open.set()
    async with async_client() as client:
        for _ in range(3 * POOL_SIZE):
            assert (await client.get(desk.url)).text == "ok"

        assert (desk.connections, busy(client)) == (1, [0])


async def test_many_at_once_are_spread_over_pools_of_which_the_first_stays(desk):
    async with async_client() as client:
        asking = [asyncio.create_task(client.get(desk.url)) for _ in range(3 * POOL_SIZE)]
        await await_until(lambda: desk.waiting == len(asking))
        assert busy(client) == [POOL_SIZE, POOL_SIZE, POOL_SIZE]

        desk.open.set()
        assert {reply.text for reply in await asyncio.gather(*asking)} == {"ok"}
        assert busy(client) == [0]
        assert {reply.text for reply in await asyncio.gather(*(client.get(desk.url) for _ in range(POOL_SIZE)))} == {
            "ok"
        }
        assert desk.connections == len(asking)  # Those of the first pool were kept.
        await await_until(lambda: desk.connections - desk.left == POOL_SIZE)


async def test_no_connection_stays_open_in_whichever_moment_a_request_is_cancelled(desk):
    desk.open.set()
    async with async_client() as client:
        for turns in range(120):
            asking = asyncio.create_task(client.get(desk.url))
            for _ in range(turns):  # Turns of the event loop, so that every step of a request is met.
                await asyncio.sleep(0)
            asking.cancel()
            await asyncio.wait([asking])
        await client.get(desk.url)

        await await_until(lambda: desk.connections - desk.left == 1)
        assert busy(client) == [0]


async def test_a_request_that_breaks_off_is_left_or_fails_gives_its_place_back(desk):
    async with async_client() as client:
        for _ in range(2 * POOL_SIZE):
            with pytest.raises(httpx.RemoteProtocolError):
                await client.get(f"{desk.url}/broken")
        asking = [asyncio.create_task(client.get(desk.url)) for _ in range(POOL_SIZE)]
        await await_until(lambda: desk.waiting == len(asking))
        for task in asking:
            task.cancel()
        await asyncio.wait(asking)

        desk.open.set()
        async with client.stream("GET", desk.url):
            assert busy(client) == [1]
        assert busy(client) == [0]
