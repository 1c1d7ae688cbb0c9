from collections.abc import Iterator

import httpx
import pytest

from app.http.server import create_app
from tests.fakes import fake_groq
from tests.served import served, small_services


@pytest.fixture(scope="module")
def client(tmp_path_factory) -> Iterator[httpx.Client]:
    with fake_groq() as groq:
        services = small_services(tmp_path_factory.mktemp("page"), groq)
        with served(create_app(services)) as url, httpx.Client(base_url=url, timeout=30) as client:
            yield client


def test_the_page_is_sent_with_nothing_inline_and_a_policy_that_allows_the_service_alone(client):
    page = client.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    policy = page.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'self'" in policy
    assert "<style" not in page.text
    assert " style=" not in page.text


def test_an_answer_is_rendered_with_its_chips(client):
    text = "It is **9 %** [GST Guide > Rate]."
    citation = {"start": 14, "end": 32, "number": 1, "title": "GST Guide", "matched": True, "doc_id": "gst"}
    response = client.post("/page/render", json={"answer": text, "citations": [citation]})
    assert response.status_code == 200
    assert response.json()["numbers"] == [1]
    assert response.json()["length"] == len(text)
    assert '<strong>9 %</strong> <button type="button" class="chip" data-citation="0"' in response.json()["html"]
