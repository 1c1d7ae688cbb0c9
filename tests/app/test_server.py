from collections.abc import Iterator

import httpx
import pytest

from app.server import create_app
from tests.fakes import fake_groq
from tests.served import served, small_services


@pytest.fixture(scope="module")
def url(tmp_path_factory) -> Iterator[str]:
    with fake_groq() as groq:
        services = small_services(tmp_path_factory.mktemp("service"), groq, cors_origins="https://desk.example")
        with served(create_app(services)) as address:
            yield address


def test_health_tells_status_time_uptime_and_version(url):
    body = httpx.get(f"{url}/api/health").json()
    assert set(body) == {"status", "timestamp", "uptime", "version"}
    assert body["status"] == "ok"


def test_a_page_of_an_allowed_origin_may_call_and_no_other(url):
    def allowed(origin: str) -> str | None:
        return httpx.get(f"{url}/api/health", headers={"Origin": origin}).headers.get("access-control-allow-origin")

    assert allowed("https://desk.example") == "https://desk.example"
    assert allowed("https://other.example") is None


def test_an_unknown_route_is_a_404_in_the_same_form(url):
    response = httpx.get(f"{url}/nowhere")
    assert (response.status_code, set(response.json())) == (404, {"error", "message"})
