"""Redis and RabbitMQ that leave in the middle of traffic: cut off, or silent, and back after a while."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx

from benchmarks.hostile.tried import Tried
from benchmarks.proxy import Proxy
from tests.access import QUESTION, key_entry, serving, settings_over, write_corpus
from tests.processes import PATIENCE_S

REDIS_PORT, REDIS_DATABASE, RABBITMQ_PORT = 6379, 12, 5672
ASKERS, PAUSE_S = 6, 0.1
# How long a server is away: longer than the service waits for Redis (2 s), so that questions meet both ends of it.
AWAY_S = 4
BACK_WITHIN_S = 30
KEY = {"Authorization": "Bearer desk"}


def attack(folder: Path) -> list[Tried]:
    """Ask a service all the time while a server that it uses leaves; none is tried where there is none to leave."""
    write_corpus(folder)
    return asyncio.run(_leave(folder))


async def _leave(folder: Path) -> list[Tried]:
    tried = []
    for name, port, allowed in (("Redis", REDIS_PORT, {200, 503}), ("RabbitMQ", RABBITMQ_PORT, {200})):
        if not await _listens(port):
            continue
        held = f"{' or '.join(map(str, sorted(allowed)))} within {PATIENCE_S} s, and 200 again when it is back"
        tried.append(Tried(f"{name} leaves in the middle of traffic", held))
        async with Proxy(port) as proxy, AsyncExitStack() as stack:
            settings = _settings(folder, **_uses(name, proxy.port))
            running = serving(settings)
            url = await asyncio.to_thread(running.__enter__)
            stack.push_async_callback(asyncio.to_thread, running.__exit__, None, None, None)
            await _try(tried[-1], proxy, url, allowed)
    return tried


async def _try(tried: Tried, proxy: Proxy, url: str, allowed: set[int]) -> None:
    async def fall_silent() -> None:
        proxy.deaf = True

    async def speak() -> None:
        proxy.deaf = False
        await proxy.cut()  # What was said meanwhile is lost: no connection can go on.
        await proxy.restore()

    ways: dict[str, tuple[Callable[[], Awaitable[None]], Callable[[], Awaitable[None]]]] = {
        "is cut off": (proxy.cut, proxy.restore),
        "is silent": (fall_silent, speak),
    }
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S, headers=KEY) as client:
        for way, (leave, come_back) in ways.items():
            over = asyncio.Event()
            askers = [asyncio.create_task(_ask_on(client, f"{number}", over)) for number in range(ASKERS)]
            await asyncio.sleep(1)
            await leave()
            await asyncio.sleep(AWAY_S)
            await come_back()
            await asyncio.sleep(1)
            over.set()
            for statuses in await asyncio.gather(*askers):
                for number, status in enumerate(statuses):
                    tried.add(f"it {way}, question {number}: {status}", held=status in allowed)
            tried.add(f"it {way} and is back", held=await _answers_again(client))


async def _ask_on(client: httpx.AsyncClient, asker: str, over: asyncio.Event) -> list[int]:
    """Ask one question after the other in a conversation; return the statuses."""
    statuses = []
    while not over.is_set():
        statuses.append(await _ask(client, f"asker-{asker}-0123456789"))
        await asyncio.sleep(PAUSE_S)
    return statuses


async def _answers_again(client: httpx.AsyncClient) -> bool:
    for _ in range(BACK_WITHIN_S):
        if await _ask(client, "back-again-0123456789") == httpx.codes.OK:
            return True
        await asyncio.sleep(1)
    return False


async def _ask(client: httpx.AsyncClient, session: str) -> int:
    try:
        return (await client.post("/api/query", json={"query": QUESTION, "sessionId": session})).status_code
    except httpx.HTTPError:
        return 0


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


def _uses(name: str, port: int) -> dict[str, Any]:
    if name == "RabbitMQ":
        return {"rabbitmq_url": f"amqp://guest:guest@127.0.0.1:{port}/"}
    url = f"redis://127.0.0.1:{port}/{REDIS_DATABASE}"
    return {"redis_url": url, "session_backend": "redis", "cache_enabled": True, "cache_backend": "redis"} | {
        "rate_limit": "100000/minute",
        "rate_limit_backend": "redis",
    }


def _settings(folder: Path, **uses: Any) -> Any:
    keys = key_entry("desk", "desk", "ask:internal")
    own = {"auth_mode": "api_key", "api_keys": keys, "rate_limit": "off", "events_path": folder / "events.sqlite3"}
    return settings_over(folder, "http://127.0.0.1:1", llm_provider="offline", warm_up=False, **own | uses)
