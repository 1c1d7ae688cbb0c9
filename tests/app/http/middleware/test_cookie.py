"""The page's cookie: who has signed in with it, and that no other page can use it."""

import json
import secrets
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from redis import Redis

from app.http.middleware.authentication import COOKIE
from tests.access import POSTED, bearer, key_entry, open_redis, serving, settings_over

KEYS = key_entry("desk", "desk-key", "ask+feedback")
REDIS = "redis://127.0.0.1:6379/9"
OWN_PAGE = {"Sec-Fetch-Site": "same-origin"}
SIGNED_IN = {"Cookie": f"{COOKIE}=desk-key"}


@pytest.fixture(scope="module")
def keyed(corpus, groq) -> Iterator[str]:
    with serving(settings_over(corpus, groq.url, auth_mode="api_key", api_keys=KEYS, rate_limit="off")) as url:
        yield url


@pytest.fixture(scope="module")
def sessions(corpus, groq) -> Iterator[tuple[str, Redis]]:
    """The service under AUTH_MODE=session, over a real Redis."""
    settings = settings_over(corpus, groq.url, auth_mode="session", redis_url=REDIS)
    with open_redis(REDIS) as redis, serving(settings) as url:
        yield url, redis


def asked(url: str, headers: dict[str, str]) -> httpx.Response:
    return httpx.post(f"{url}/api/query", json=POSTED, headers=headers)


@pytest.mark.parametrize(
    "page",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},  # Another port of the same host.
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "{own}"},
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {"Origin": "http://"},
        {"Origin": "http://127.0.0.1:1"},
        {},
    ],
)
def test_a_post_with_the_cookie_from_anywhere_but_the_own_page_is_refused(keyed, groq, page):
    page = {name: value.replace("{own}", keyed) for name, value in page.items()}

    response = asked(keyed, SIGNED_IN | page)

    assert (response.status_code, groq.requests) == (403, [])
    assert "own page" in response.json()["message"]


@pytest.mark.parametrize("page", [{"Sec-Fetch-Site": "same-origin"}, {"Origin": "{own}"}])
def test_a_post_with_the_cookie_from_the_own_page_is_answered(keyed, page):
    page = {name: value.replace("{own}", keyed) for name, value in page.items()}
    assert asked(keyed, SIGNED_IN | page).status_code == 200


def test_a_token_in_a_header_needs_no_page_and_goes_before_the_cookie(keyed):
    assert asked(keyed, bearer("desk-key")).status_code == 200
    assert asked(keyed, bearer("desk-key") | {"Cookie": f"{COOKIE}=wrong"}).status_code == 200
    assert asked(keyed, bearer("wrong") | SIGNED_IN | OWN_PAGE).status_code == 401


def test_what_is_read_needs_no_word_of_where_from(keyed):
    assert httpx.get(f"{keyed}/openapi.json", headers=SIGNED_IN).status_code == 200
    assert httpx.get(f"{keyed}/openapi.json", headers={"Cookie": f"{COOKIE}=wrong"}).status_code == 401


def test_signing_in_makes_a_cookie_that_no_script_and_no_other_site_gets(keyed):
    response = httpx.post(f"{keyed}/sign-in", json={"token": " desk-key\n"}, headers=OWN_PAGE)

    name, *attributes = response.headers["set-cookie"].split("; ")
    assert (response.status_code, name) == (204, f"{COOKIE}=desk-key")
    assert sorted(attributes) == ["HttpOnly", "Path=/", "SameSite=strict"]


def test_over_https_the_cookie_is_for_https_only(corpus, groq):
    from app.http.server import create_app
    from app.wiring import open_service
    from tests.served import served

    services = open_service(settings_over(corpus, groq.url, auth_mode="api_key", api_keys=KEYS))
    with served(create_app(services), proxies="127.0.0.1") as url:
        headers = OWN_PAGE | {"X-Forwarded-Proto": "https"}
        response = httpx.post(f"{url}/sign-in", json={"token": "desk-key"}, headers=headers)
    assert "; Secure" in response.headers["set-cookie"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"token": "wrong"}, 401),
        ({"token": "a b"}, 401),
        ({"token": ""}, 401),
        ({}, 400),
        ({"token": 1}, 400),
        ([], 400),
    ],
)
def test_a_token_that_is_not_valid_makes_no_cookie(keyed, body, status):
    response = httpx.post(f"{keyed}/sign-in", json=body, headers=OWN_PAGE)
    assert (response.status_code, "set-cookie" in response.headers) == (status, False)


@pytest.mark.parametrize("path", ["/sign-in", "/sign-out"])
def test_no_other_page_signs_a_user_in_or_out(keyed, path):
    for headers in ({}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://elsewhere.example"}):
        response = httpx.post(f"{keyed}{path}", json={"token": "desk-key"}, headers=headers)
        assert (response.status_code, "set-cookie" in response.headers) == (403, False)


def test_signing_out_removes_the_cookie(keyed):
    with httpx.Client(base_url=keyed, headers=OWN_PAGE) as page:
        page.post("/sign-in", json={"token": "desk-key"}).raise_for_status()
        assert page.get("/api/me").json()["signed_in"]
        assert page.post("/sign-out").status_code == 204
        assert not page.get("/api/me").json()["signed_in"]


def test_who_asks_is_told_and_a_stranger_is_told_that_nobody_is_signed_in(keyed):
    stranger, desk = httpx.get(f"{keyed}/api/me").json(), httpx.get(f"{keyed}/api/me", headers=SIGNED_IN).json()
    common: dict[str, Any] = {
        "auth_mode": "api_key",
        "credential": "key",
        "model": "llama-3.1-8b-instant",
        "email": None,
    }

    for name in ("version", "shares"):
        assert stranger.pop(name) == desk.pop(name)
    nobody: dict[str, Any] = {
        "signed_in": False,
        "user_id": None,
        "scopes": [],
        "audience": "public",
        "feedback": False,
    }
    assert stranger == common | nobody
    named: dict[str, Any] = {"signed_in": True, "user_id": "desk", "scopes": ["ask", "feedback"], "audience": "public"}
    assert desk == common | named | {"feedback": True}


def test_a_cookie_that_is_no_longer_valid_is_removed(keyed):
    response = httpx.get(f"{keyed}/api/me", headers={"Cookie": f"{COOKIE}=expired"})
    assert (response.status_code, response.json()["signed_in"]) == (200, False)
    assert f'{COOKIE}=""' in response.headers["set-cookie"]


def test_without_authentication_there_is_nothing_to_sign_in_to(corpus, groq):
    with serving(settings_over(corpus, groq.url)) as url:
        refused = httpx.post(f"{url}/sign-in", json={"token": "any"}, headers=OWN_PAGE)
        me = httpx.get(f"{url}/api/me", headers={"Cookie": f"{COOKIE}=any"}).json()
    assert refused.status_code == 400
    assert (me["credential"], me["signed_in"], me["audience"]) == (None, False, "internal")


@pytest.mark.service
@pytest.mark.parametrize("is_admin", [False, True])
def test_a_session_of_redis_signs_in_and_ends_when_it_ends_there(sessions, groq, is_admin):
    url, redis = sessions
    token = secrets.token_urlsafe(32)
    session = {"user_id": "u1", "email": "a@b.c", "is_admin": is_admin}
    redis.set(f"session:{token}", json.dumps(session), ex=60)
    with httpx.Client(base_url=url, headers=OWN_PAGE) as page:
        try:
            page.post("/sign-in", json={"token": token}).raise_for_status()
            me = page.get("/api/me").json()
            answered = page.post("/api/query", json=POSTED).status_code
            elsewhere = page.post("/api/query", json=POSTED, headers={"Sec-Fetch-Site": "cross-site"}).status_code
        finally:
            redis.delete(f"session:{token}")
        after = page.post("/api/query", json=POSTED)

    assert (me["user_id"], me["email"], me["audience"]) == ("u1", "a@b.c", "internal" if is_admin else "public")
    assert (answered, elsewhere) == (200, 403)
    assert (after.status_code, after.json()["message"]) == (401, "Invalid or expired session")
