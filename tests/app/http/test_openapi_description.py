"""What /openapi.json says of who may ask, held against what each operation answers."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from app.http.server import create_app
from app.wiring import open_service
from tests.access import key_entry, serving, settings_over

STAFF = "staff-key"
KEYS = key_entry("staff", STAFF, "ask:internal+feedback+metrics+ingest")
BEARER = {"Authorization": f"Bearer {STAFF}"}
KEY = {"X-API-Key": STAFF}
USER = {"user_id": "u1", "email": "a@b.c", "is_admin": True, "valid": True}

MODES: list[tuple[dict[str, Any], list[dict[str, str]]]] = [
    ({"auth_mode": "none"}, []),
    ({"auth_mode": "session"}, [BEARER]),
    ({"auth_mode": "api_key", "api_keys": KEYS}, [BEARER, KEY]),
]
# Where everybody is asked for a name, ALLOW_ANONYMOUS lets nobody in without one.
EVERY_WAY = [(mode | {"allow_anonymous": anonymous}, shown) for mode, shown in MODES for anonymous in (False, True)]


@pytest.fixture
def mode(httpserver, request) -> dict[str, Any]:
    """The settings of a mode, with an auth service on loopback."""
    httpserver.expect_request("/auth/validate", headers=BEARER).respond_with_json(USER)
    return request.param | {"auth_url": httpserver.url_for("").rstrip("/")}


def description_of(settings: Any) -> dict[str, Any]:
    description: dict[str, Any] = create_app(open_service(settings)).openapi()
    return description


def operations(description: dict[str, Any]) -> Iterator[tuple[str, str, list]]:
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation.get("security", [])


def headers_of(description: dict[str, Any], requirement: dict[str, list]) -> dict[str, str]:
    """The headers that a client sends who reads the description."""
    [name] = requirement
    scheme = description["components"]["securitySchemes"][name]
    if scheme["type"] == "apiKey":
        assert scheme["in"] == "header"
        return {scheme["name"]: STAFF}
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    return {"Authorization": f"Bearer {STAFF}"}


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "shown"), EVERY_WAY, indirect=["mode"])
def test_an_operation_asks_for_a_name_exactly_where_the_description_says_so(corpus, groq, mode, shown):
    settings = settings_over(corpus, groq.url, rate_limit="off", **mode)
    description = description_of(settings)
    with serving(settings) as url, httpx.Client(base_url=url) as client:
        for method, path, security in operations(description):
            body: dict | None = {} if method == "post" else None
            refused = client.request(method, path, json=body).status_code == 401
            assert refused is bool(security), f"{method} {path}"
            for requirement in security:
                headers = headers_of(description, requirement)
                assert client.request(method, path, json=body, headers=headers).status_code not in {401, 403}
            taken = [headers_of(description, requirement) for requirement in security]
            assert taken == (shown if refused else [])


@pytest.mark.parametrize("auth_mode", ["session", "api_key"])
def test_probes_are_described_as_open(corpus, groq, auth_mode):
    description = description_of(settings_over(corpus, groq.url, auth_mode=auth_mode, api_keys=KEYS))
    unasked = {path for _, path, security in operations(description) if not security}
    assert unasked == {"/health", "/health/live", "/health/ready", "/api/health"}


def test_without_authentication_nothing_is_described(corpus, groq):
    description = description_of(settings_over(corpus, groq.url))
    assert "securitySchemes" not in description["components"]
    assert not any(security for *_, security in operations(description))
