"""The real Redis of this machine, and addresses where there is none."""

import asyncio
import shutil
import socket
import subprocess

import pytest
import redis

from app.adapters.stores.redis import PAUSE_S, RedisStore
from chains.caching.typed_cache import StoreError
from chains.errors import ConfigurationError
from tests.chains.caching.chain import StoppedClock
from tests.waiting import wait_until

URL = "redis://127.0.0.1:6379/9"
PATIENCE_S = 30


@pytest.fixture
def client():
    with redis.Redis.from_url(URL) as client:
        try:
            client.ping()
        except redis.ConnectionError:
            pytest.skip("no Redis listens at 127.0.0.1:6379")
        yield client
        if keys := list(client.scan_iter("test:*")):
            client.delete(*keys)


@pytest.fixture
def store(client):
    store = RedisStore(URL, ttl_s=60, timeout_s=PATIENCE_S)
    yield store
    store.close()


@pytest.mark.service
def test_values_are_kept_for_their_time_by_redis_itself(store, client):
    store.set("test:a", b"1")
    store.set("test:b", b"2", ttl_s=600)

    assert [store.get(name) for name in ("test:a", "test:none", "test:b")] == [b"1", None, b"2"]
    assert 0 < client.pttl("test:a") <= 60_000 < client.pttl("test:b") <= 600_000


@pytest.mark.service
def test_it_serves_event_loops_with_connections_of_their_own_and_without(store):
    async def keep_and_find(key: str) -> list[bytes | None]:
        await store.aset(key, b"1")
        return [await store.aget(key), await store.aget("test:none")]

    async def within(key: str) -> list[bytes | None]:
        async with store.connected():
            return await keep_and_find(key)

    async def within_another(key: str) -> list[bytes | None]:
        async with store.connected():
            return await asyncio.to_thread(asyncio.run, keep_and_find(key))

    assert asyncio.run(keep_and_find("test:a")) == [b"1", None]
    assert asyncio.run(within_another("test:a")) == [b"1", None]
    assert asyncio.run(within("test:b")) == [b"1", None]
    assert asyncio.run(within("test:c")) == [b"1", None]
    assert store.get("test:b") == b"1"


@pytest.mark.service
def test_a_value_of_another_kind_is_none_of_ours(store, client):
    client.rpush("test:list", b"1")
    assert store.get("test:list") is None


@pytest.mark.service
def test_a_redis_that_refuses_is_a_redis_that_fails(client):
    store = RedisStore("redis://nobody:wrong@127.0.0.1:6379/9", ttl_s=60, timeout_s=PATIENCE_S)
    with pytest.raises(StoreError, match="AuthenticationError"):
        store.set("test:a", b"1")


@pytest.fixture
def deaf():
    """An address where connections are taken and nothing is ever said."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}/0"


@pytest.fixture
def closed():
    """An address where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return f"redis://:secret@127.0.0.1:{port}/0"


@pytest.mark.parametrize("place", ["deaf", "closed"])
async def test_a_redis_that_fails_is_left_alone_for_a_while_and_told_of_once(place, request, capsys, caplog):
    clock = StoppedClock()
    store = RedisStore(request.getfixturevalue(place), ttl_s=60, timeout_s=0.05, clock=clock)
    async with store.connected():
        for _ in range(2):
            with pytest.raises(StoreError, match="did not answer"):
                store.get("a")
            for _ in range(3):
                with pytest.raises(StoreError, match="a moment ago"):
                    await store.aget("a")
                with pytest.raises(StoreError, match="a moment ago"):
                    await store.aset("a", b"1")
            clock.sleep(PAUSE_S)
        with pytest.raises(StoreError, match="did not answer"):
            await store.aget("a")

    told = capsys.readouterr().out + caplog.text
    assert told.count("cache_down") == 1
    assert "secret" not in told


@pytest.mark.service
def test_a_redis_that_comes_back_is_used_again_and_told_of(closed, capsys, caplog, tmp_path):
    server = shutil.which("redis-server") or pytest.skip("redis-server is not installed")
    caplog.set_level("INFO")
    clock, url = StoppedClock(), closed.replace(":secret@", "")
    store = RedisStore(url, ttl_s=60, timeout_s=PATIENCE_S, clock=clock)
    with pytest.raises(StoreError):
        store.get("a")

    port = url.split(":")[-1].removesuffix("/0")
    command = [server, "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        with redis.Redis.from_url(url) as client:
            wait_until(lambda: _answers(client))
        clock.sleep(PAUSE_S)
        assert store.get("a") is None
        store.close()
        process.terminate()
    assert "cache_back" in capsys.readouterr().out + caplog.text


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


def test_an_address_that_is_none_is_a_clear_error_that_tells_no_password():
    with pytest.raises(ConfigurationError, match="REDIS_URL") as caught:
        RedisStore("http://:secret@example.org", ttl_s=60)

    assert "secret" not in str(caught.value)
