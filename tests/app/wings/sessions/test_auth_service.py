import pytest
from pytest_httpserver import HTTPServer

from app.adapters.identity import IdentityStoreError
from app.wings.sessions.plugin import AuthService
from tests.clocks import StoppedClock

USER = {"user_id": "u1", "email": "a@b.c", "is_admin": True, "valid": True}


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock(0)


@pytest.fixture
async def service(httpserver: HTTPServer, clock):
    service = AuthService(httpserver.url_for("/"), max_tokens=2, clock=clock)
    yield service
    await service.aclose()


def asked(httpserver: HTTPServer) -> list[str]:
    return [request.headers["Authorization"].removeprefix("Bearer ") for request, _ in httpserver.log]


async def test_the_service_is_asked_with_the_token_and_again_after_half_a_minute(httpserver, service, clock):
    httpserver.expect_request("/auth/validate").respond_with_json(USER)

    found = [await service.find("t1"), await service.find("t1")]
    assert [(identity.user_id, identity.email, identity.audience) for identity in found] == [
        ("u1", "a@b.c", "internal")
    ] * 2
    assert asked(httpserver) == ["t1"]
    clock.time = 30
    await service.find("t1")
    assert asked(httpserver) == ["t1", "t1"]


async def test_the_cache_of_callers_is_bounded(httpserver, service):
    httpserver.expect_request("/auth/validate").respond_with_json(USER)

    for token in ("t1", "t2", "t1", "t3", "t3"):
        await service.find(token)
    assert asked(httpserver) == ["t1", "t2", "t3"]
    await service.find("t2")  # The one that was used least recently has been forgotten.
    assert asked(httpserver) == ["t1", "t2", "t3", "t2"]


async def test_wrong_tokens_are_asked_once_in_five_seconds_and_push_out_no_caller(httpserver, service, clock):
    httpserver.expect_request("/auth/validate", headers={"Authorization": "Bearer t1"}).respond_with_json(USER)
    httpserver.expect_request("/auth/validate").respond_with_data(status=401)

    for token in ("t1", "no", "no", "wrong", "other", "t1"):
        await service.find(token)
    assert asked(httpserver) == ["t1", "no", "wrong", "other"]
    assert await service.find("other") is None
    clock.time = 5
    await service.find("other")
    assert asked(httpserver)[-2:] == ["other", "other"]


TWICE = '{"user_id": "u1", "is_admin": false, "is_admin": true}'


@pytest.mark.parametrize(
    ("status", "body"), [(500, "{}"), (200, "<html>"), (404, ""), (302, ""), (200, "[" * 100_000), (200, TWICE)]
)
async def test_an_answer_that_was_not_agreed_is_no_identity(httpserver, service, status, body):
    httpserver.expect_request("/auth/validate").respond_with_data(body, status=status)
    with pytest.raises(IdentityStoreError):
        await service.find("t1")
