"""Sessions as the peer's auth service recorded them: its cases, run on ours; what is its own business stands here."""

import json
from collections.abc import Iterator

import httpx
import pytest
from redis import Redis
from redis.asyncio import ConnectionPool

from app.wings.sessions.plugin import RedisSessions
from tests.access import POSTED, open_redis, serving, settings_over, write_corpus
from tests.contract.recorded import rows

REDIS = "redis://127.0.0.1:6379/10"
# The routes that make and end sessions belong to the auth service; this one reads what they leave in Redis.
THEIRS = {"marp-130": "a login", "marp-133": "a logout"}
STORED = {
    "session:tok": json.dumps({"user_id": "u1", "email": "a@b.c"}),
    "session:corrupt": "{not json",
    "session:nouid": "{}",
}


# The chat service answers an unreadable session with 500, the auth service with 401, as ours does: sign in again.
UNREADABLE = {"marp-061": "corrupt", "marp-062": "nouid"}


def is_session(case):
    """Say whether a case is about who asks, as some of the chat service are."""
    return case["area"] == "auth" or (case["area"] == "http_chat" and {"headers", "redis"} & set(case["input"]))


# Only where there are cases is Redis needed.
CASES = [
    pytest.param(row, id=row["id"], marks=pytest.mark.service)
    for row in rows("auth", "http_chat")
    if is_session(row) and row["id"] not in THEIRS
]


@pytest.fixture(scope="module")
def redis() -> Iterator[Redis]:
    with open_redis(REDIS) as redis:
        yield redis
        redis.delete(*STORED)


@pytest.fixture(scope="module")
def url(redis, tmp_path_factory) -> Iterator[str]:
    corpus = write_corpus(tmp_path_factory.mktemp("conformance"))
    options = {"auth_mode": "session", "redis_url": REDIS, "llm_provider": "offline"}
    with serving(settings_over(corpus, "http://127.0.0.1:1", **options)) as url:
        yield url


@pytest.mark.parametrize("case", CASES)
async def test_a_session_that_the_peer_finds_valid_is_who_it_says_and_others_are_nobody(case, redis, url):
    redis.mset(STORED)
    if case["id"] == "marp-132":  # After the logout, which deletes the session.
        headers, status = {"Authorization": "Bearer tok"}, case["expected"]["validate_after"]
        redis.delete("session:tok")
    elif case["id"] in UNREADABLE:
        assert case["expected"]["status"] == 500
        headers, status = {"Authorization": f"Bearer {UNREADABLE[case['id']]}"}, 401
    else:
        headers, status = case["input"]["headers"], case["expected"]["status"]
    path = "/chat" if case["area"] == "http_chat" else "/api/query"
    async with httpx.AsyncClient(base_url=url) as client:
        response = await client.post(path, json=POSTED, headers=headers)
    assert response.status_code == status
    if path == "/chat" and case["id"] not in UNREADABLE:
        assert response.json()["detail"] == case["expected"]["body"]["detail"]
    if status == 200:
        await _check_identity(case["expected"]["body"])


async def _check_identity(body):
    connections = ConnectionPool.from_url(REDIS)
    identity = await RedisSessions(connections).find("tok")
    await connections.disconnect()
    assert identity is not None
    assert (identity.user_id, identity.email) == (body["user_id"], body["email"])
    assert (identity.audience == "internal") is body["is_admin"]
