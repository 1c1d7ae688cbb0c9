import pytest
from pytest_httpserver import HTTPServer

from app.adapters.sessions.auth_service import AuthService
from app.adapters.sessions.identity import IdentityStoreError
from tests.clocks import StoppedClock

USER = {"user_id": "u1", "email": "a@b.c", "is_admin": True, "valid": True}


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock(0)


@pytest.fixture
async def service(httpserver: HTTPServer, clock):
    service = AuthService(httpserver.url_for("/"), remember=2, clock=clock)
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


async def test_what_is_remembered_is_bounded_and_a_refusal_is_not_remembered(httpserver, service):
    httpserver.expect_request("/auth/validate", headers={"Authorization": "Bearer no"}).respond_with_data(status=401)
    httpserver.expect_request("/auth/validate").respond_with_json(USER)

    for token in ("no", "no", "t1", "t2", "t1", "t3", "t1", "t2"):
        await service.find(token)
    assert asked(httpserver) == ["no", "no", "t1", "t2", "t3", "t2"]
    assert await service.find("no") is None


@pytest.mark.parametrize(("status", "body"), [(500, "{}"), (200, "<html>"), (404, ""), (302, "")])
async def test_an_answer_that_was_not_agreed_is_no_identity(httpserver, service, status, body):
    httpserver.expect_request("/auth/validate").respond_with_data(body, status=status)
    with pytest.raises(IdentityStoreError):
        await service.find("t1")
