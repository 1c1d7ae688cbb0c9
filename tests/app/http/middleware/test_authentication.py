import json
import re
import secrets
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from fastapi.routing import iter_route_contexts
from redis import Redis

from app.http.middleware.security import COOKIE
from app.http.policy import Policies
from app.http.server import create_app
from app.settings import load_settings
from app.wiring import open_service
from app.wiring.service import Access
from chains.errors import ConfigurationError
from tests.access import ASKED, POSTED, bearer, key_entry, open_redis, serving, settings_over, sources_shown
from tests.fakes import FakeGroq
from tests.served import served

KEYS = ",".join(
    [
        key_entry("desk", "desk-key", "ask+feedback"),
        key_entry("staff", "staff-key", "ask:internal"),
        key_entry("scraper", "scraper-key", "metrics"),
    ]
)
REDIS = "redis://127.0.0.1:6379/9"


@pytest.fixture(scope="module")
def keyed(corpus, groq) -> Iterator[str]:
    with serving(settings_over(corpus, groq.url, auth_mode="api_key", api_keys=KEYS, rate_limit="off")) as url:
        yield url


@pytest.fixture(scope="module")
def local(corpus, groq) -> Iterator[str]:
    with serving(settings_over(corpus, groq.url, cors_origins="https://desk.example")) as url:
        yield url


@pytest.fixture(scope="module")
def sessions(corpus, groq) -> Iterator[tuple[str, Redis]]:
    """The service under AUTH_MODE=session, over a real Redis."""
    settings = settings_over(corpus, groq.url, auth_mode="session", redis_url=REDIS)
    with open_redis(REDIS) as redis, serving(settings) as url:
        yield url, redis


def test_every_route_but_health_asks_for_a_name(corpus, groq, keyed):
    app = create_app(open_service(settings_over(corpus, groq.url, auth_mode="api_key", api_keys=KEYS)))
    asked, policies = set(), Policies(app.routes)
    for route in iter_route_contexts(app.routes):
        path = re.sub(r"{[^}]*}", "x", route.path or "")
        for method in route.methods or {"GET"}:
            response = httpx.request(method, keyed + path, json={} if method == "POST" else None)
            policy = policies.find(path, method)
            is_closed = not policy.is_open and policy.access != "optional"
            assert (response.status_code == 401) is is_closed, f"{method} {path}: {response.status_code}"
        asked.add(path)
    assert {*ASKED, "/docs", "/openapi.json", "/copilot/input_schema", "/api/health"} <= asked
    assert httpx.get(f"{keyed}/no/such/route").status_code == 401


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({}, "Authorization header required"),
        ({"Authorization": "Basic ZGVzazprZXk="}, "Invalid authorization format"),
        ({"Authorization": "Bearer"}, "Invalid authorization format"),
        ({"Authorization": "Bearer desk-key desk-key"}, "Invalid authorization format"),
        ({"Authorization": "Bearer " + "x" * 600}, "Invalid authorization format"),
        ({"X-API-Key": "clé".encode()}, "Invalid authorization format"),
        ({"Authorization": "Bearer unknown"}, "Invalid or expired key"),
        ({"X-API-Key": "unknown"}, "Invalid or expired key"),
    ],
)
def test_who_cannot_be_recognised_is_told_how_to_authenticate(keyed, groq, headers, message):
    response = httpx.post(f"{keyed}/api/query", json=POSTED, headers=headers)

    assert (response.status_code, response.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert response.json() == {"error": "Unauthorized", "message": message}
    assert groq.requests == []


def test_a_session_is_shown_as_a_bearer_token_only(corpus, groq, httpserver):
    httpserver.expect_request("/auth/validate").respond_with_json({"user_id": "u1"})
    address = httpserver.url_for("").rstrip("/")
    with serving(settings_over(corpus, groq.url, auth_mode="session", auth_url=address)) as url:
        answers = [
            httpx.post(f"{url}/api/query", json=POSTED, headers=headers)
            for headers in ({"X-API-Key": "token"}, bearer("token"))
        ]
    assert [answer.status_code for answer in answers] == [401, 200]
    assert answers[0].json()["message"] == "Authorization header required"


def test_the_metrics_are_open_on_this_machine_closed_to_strangers_and_a_key_opens_them(corpus, groq, local):
    headers = {"stranger": {}, "scraper": bearer("scraper-key"), "other": bearer("desk-key"), "no key": bearer("x")}
    with serving(settings_over(corpus, groq.url, auth_mode="public", api_keys=KEYS)) as url:
        statuses = {name: httpx.get(f"{url}/metrics", headers=headers[name]).status_code for name in headers}
        assert httpx.post(f"{url}/api/query", json=POSTED).status_code == 200
    assert statuses == {"stranger": 403, "scraper": 200, "other": 403, "no key": 401}
    assert httpx.get(f"{local}/metrics").status_code == 200


@pytest.mark.parametrize(
    "headers", [bearer("desk-key"), {"X-API-Key": "desk-key"}, {"Authorization": "bearer desk-key"}]
)
def test_a_key_is_accepted_as_a_bearer_token_or_in_its_own_header(keyed, headers):
    assert httpx.post(f"{keyed}/api/query", json=POSTED, headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("path", "key", "status"),
    [
        ("/api/query", "scraper-key", 403),
        ("/copilot/input_schema", "scraper-key", 403),
        ("/metrics", "desk-key", 403),
        ("/metrics/", "staff-key", 403),
        ("/api/feedback", "staff-key", 403),
        ("/copilot/input_schema", "staff-key", 200),
        ("/docs", "desk-key", 200),
    ],
)
def test_a_key_allows_what_its_scopes_say(keyed, path, key, status):
    response = httpx.request("GET" if status == 200 else "POST", keyed + path, headers=bearer(key))
    assert response.status_code == status
    if status == 403:
        assert "scope" in response.json()["message"]


@pytest.mark.parametrize("path", ASKED)
def test_internal_documents_are_for_the_staff_by_every_way_of_asking(keyed, groq: FakeGroq, path):
    for key in ("desk-key", "staff-key"):
        httpx.post(keyed + path, json=ASKED[path], headers=bearer(key)).raise_for_status()

    seen = ["in confidence" in sources_shown(request) for request in groq.requests]
    assert seen == [False, True]


@pytest.mark.parametrize(("path", "several"), [*((path, False) for path in ASKED), ("/copilot/batch", True)])
def test_no_client_configures_who_it_is(keyed, groq, path, several):
    staff = {"audience": "internal"}
    forged = {"configurable": staff, "metadata": {"user_id": "staff"}, "tags": ["x"], "run_name": "x"}
    more = {"config": [forged] if several else forged, "kwargs": {"config": {"configurable": staff}}, "filter": staff}
    headers = bearer("desk-key") | {"X-Audience": "internal", "X-User-Id": "staff", "X-Is-Admin": "true"}
    response = httpx.post(keyed + path, json=ASKED[path] | more | staff, headers=headers)

    assert response.status_code == 200
    assert "in confidence" not in sources_shown(groq.requests[0])
    assert "in confidence" not in response.text


def test_without_authentication_this_machine_sees_all_and_others_what_is_public(corpus, groq, local):
    with serving(settings_over(corpus, groq.url, auth_mode="public")) as public:
        for url in (local, public):
            httpx.post(f"{url}/api/query", json=POSTED).raise_for_status()
    assert ["in confidence" in sources_shown(request) for request in groq.requests] == [True, False]


@pytest.mark.service
@pytest.mark.parametrize("is_admin", [False, True])
def test_a_session_in_redis_is_accepted_as_token_and_as_cookie_and_ends_there(sessions, groq, is_admin):
    url, redis = sessions
    token = secrets.token_urlsafe(32)
    session = {"user_id": "u1", "email": "a@b.c", "is_admin": is_admin}
    redis.set(f"session:{token}", json.dumps(session), ex=60)
    with httpx.Client(base_url=url, headers=OWN_PAGE) as page:
        try:
            by_token = asked(url, bearer(token))
            page.post("/sign-in", json={"token": token}).raise_for_status()
            me = page.get("/api/me").json()
            by_cookie = page.post("/api/query", json=POSTED)
            elsewhere = page.post("/api/query", json=POSTED, headers={"Sec-Fetch-Site": "cross-site"})
        finally:
            redis.delete(f"session:{token}")
        after = [asked(url, bearer(token)), page.post("/api/query", json=POSTED)]

    assert [answer.status_code for answer in (by_token, by_cookie, elsewhere)] == [200, 200, 403]
    assert ["in confidence" in sources_shown(request) for request in groq.requests] == [is_admin] * 2
    assert (me["user_id"], me["email"], me["audience"]) == ("u1", "a@b.c", "internal" if is_admin else "public")
    expired = [(answer.status_code, answer.json()["message"]) for answer in after]
    assert expired == [(401, "Invalid or expired session")] * 2


@pytest.mark.service
@pytest.mark.parametrize(
    "session",
    [
        *("{not json", '"text"', "[]", "{}", '{"user_id": ""}', "[" * 5000, "\u00ff"),
        *('{"user_id": {"id": 1}}', '{"user_id": true}', '{"user_id": "\\ud800"}'),
        '{"user_id": "u1", "is_admin": false, "is_admin": true}',
        '{"user_id": "u1", "user_id": "u2"}',
    ],
)
def test_a_session_without_one_user_is_refused(sessions, session):
    url, redis = sessions
    redis.set("session:broken", session, ex=60)
    try:
        response = httpx.post(f"{url}/api/query", json=POSTED, headers=bearer("broken"))
    finally:
        redis.delete("session:broken")
    assert response.status_code == 401


@pytest.mark.parametrize("option", [{"redis_url": "redis://127.0.0.1:1/0"}, {"auth_url": "http://127.0.0.1:1"}])
def test_a_store_of_sessions_that_does_not_answer_lets_nobody_pass(corpus, groq, option):
    with serving(settings_over(corpus, groq.url, auth_mode="session", **option)) as url:
        response = httpx.post(f"{url}/api/query", json=POSTED, headers=bearer("any"))
        healthy = httpx.get(f"{url}/api/health")

    assert (response.status_code, set(response.json())) == (503, {"error", "message"})
    assert healthy.status_code == 200
    assert groq.requests == []


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:5173", 200),
        ("http://127.0.0.1:3000", 200),
        ("https://desk.example", 200),
        ("https://elsewhere.example", 403),
        ("http://localhost.elsewhere.example", 403),
        ("null", 403),
        ("http://[", 403),
    ],
)
def test_pages_from_elsewhere_may_not_ask_on_behalf_of_the_user_of_this_machine(local, groq, origin, status):
    response = httpx.post(f"{local}/api/query", json=POSTED, headers={"Origin": origin})
    assert response.status_code == status
    assert len(groq.requests) == (status == 200)


def test_a_page_of_an_allowed_origin_may_call_and_no_other(local):
    allowed = {
        origin: httpx.get(f"{local}/api/health", headers={"Origin": origin}).headers.get("access-control-allow-origin")
        for origin in ("https://desk.example", "https://other.example")
    }
    assert allowed == {"https://desk.example": "https://desk.example", "https://other.example": None}


def test_where_others_may_ask_any_page_may_try(keyed):
    headers = {"Origin": "https://elsewhere.example", **bearer("desk-key")}
    assert httpx.get(f"{keyed}/copilot/input_schema", headers=headers).status_code == 200


def test_serving_strangers_without_authentication_is_refused_with_the_reason(waypoint):
    code, _, told = waypoint("serve", "--host", "192.0.2.1")
    assert code == 2
    assert "AUTH_MODE to session or api_key, or to public" in told


def test_a_deployment_that_hid_internal_documents_from_strangers_starts_only_where_it_still_does(monkeypatch):
    monkeypatch.setenv("ANONYMOUS_AUDIENCE", "public")
    with pytest.raises(ConfigurationError, match="AUTH_MODE=public"):
        _ = Access(load_settings(_env_file=None)).anonymous
    assert Access(load_settings(_env_file=None, auth_mode="public")).anonymous is not None


OWN_PAGE = {"Sec-Fetch-Site": "same-origin"}
SIGNED_IN = {"Cookie": f"{COOKIE}=desk-key"}


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
