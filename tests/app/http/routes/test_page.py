import httpx
import pytest
from starlette.testclient import TestClient

from app.http import middleware
from app.http.server import create_app
from app.web.words import languages
from tests.fakes import fake_groq
from tests.served import guide_services, served, small_services

services = guide_services()


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


def test_closest_passages_are_drawn_with_the_answer(client):
    near = {"quote": "| Cat | £53 |", "marked": "| Cat | £53 |", "table_head": "| Animal | Price |\n|---|---|"}
    told = client.post("/page/render", json={"answer": "x", "closest": [near, {"quote": "*Kept* before 2026"}]}).json()

    assert [passage.partition(">")[0] for passage in told["closest"]] == ['<div class="scroll" tabindex="0"', "<p"]
    assert '<mark class="quote">£53</mark>' in told["closest"][0]


def test_the_language_is_that_of_the_address_and_kept_from_then_on(client):
    first = client.get("/", headers={"Accept-Language": "id-ID, en;q=0.5"})
    asked = client.get("/?lang=en", headers={"Accept-Language": "id"})
    kept = client.get("/", headers={"Accept-Language": "id", "Cookie": "lang=en"})
    client.cookies.clear()

    assert [page.headers["content-language"] for page in (first, asked, kept)] == ["id", "en", "en"]
    assert "set-cookie" not in first.headers
    assert asked.headers["set-cookie"].startswith("lang=en; Max-Age=")
    assert '<html lang="id"' in first.text


def test_a_question_in_the_address_fills_the_box_and_is_cut_at_its_limit(client):
    assert ">Where from?</textarea>" in client.get("/", params={"question": "Where from?"}).text
    assert f">{'x' * 4000}</textarea>" in client.get("/", params={"question": "x" * 5000}).text


def test_files_are_kept_by_browsers_at_addresses_with_the_version_and_asked_for_again_at_others(client):
    page = client.get("/").text
    address = page.split('type="module" src="')[1].split('"')[0]
    lasting, other = client.get(f"/{address}"), client.get("/static/page.js")

    assert lasting.headers["content-type"].startswith("text/javascript")
    assert "immutable" in lasting.headers["cache-control"]
    assert other.headers["cache-control"] == "public, no-cache"
    unchanged = client.get("/static/page.js", headers={"If-None-Match": other.headers["etag"]})
    assert (unchanged.status_code, unchanged.content) == (304, b"")


def test_files_are_sent_compressed_to_whom_takes_them_so(client):
    small, plain = (
        client.get("/static/page.js", headers={"Accept-Encoding": accepted}) for accepted in ("gzip, br", "identity")
    )
    assert (small.headers.get("content-encoding"), plain.headers.get("content-encoding")) == ("gzip", None)
    assert int(small.headers["content-length"]) < int(plain.headers["content-length"])
    assert small.content == plain.content
    assert small.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
    assert small.headers["etag"] != plain.headers["etag"]


@pytest.mark.parametrize("path", ["/static/", "/static/nothing.js", "/static/..%2fview.py", "/static/%2e%2e/view.py"])
def test_what_is_no_file_of_the_page_is_a_404(client, path):
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"answer": "x" * 20_000}, 200),
        ({"answer": "x" * 20_001}, 400),
        ({"answer": "x", "citations": [{"start": -1, "end": 0}]}, 400),
        ({"answer": "x", "citations": [{"start": 10**9, "end": 10**10}]}, 200),
        ({"answer": "x", "citations": [{"start": 1, "end": 0}] * 500}, 200),
        ({"answer": "x", "citations": [{"start": 0, "end": 1}] * 501}, 400),
        ({"answer": "x", "closest": [{"quote": "x"}] * 11}, 400),
        ({"answer": "x" * 70_000}, 413),
        ({}, 400),
        ([], 400),
    ],
)
def test_what_can_be_rendered_has_limits(client, body, status):
    assert client.post("/page/render", json=body).status_code == status


def test_rendering_and_loading_count_towards_no_limit_of_questions(tmp_path, monkeypatch):
    monkeypatch.setattr(middleware, "QUESTIONS_AT_ONCE", 1)
    with fake_groq() as groq:
        services = small_services(tmp_path, groq, rate_limit="1/hour")
        with served(create_app(services)) as url, httpx.Client(base_url=url) as client:
            statuses = [client.post("/page/render", json={"answer": "x"}).status_code for _ in range(3)]
            statuses += [client.get(path).status_code for path in ("/", "/icon", "/api/me")]
            asked = [client.post("/api/query", json={"query": "What is GST?"}).status_code for _ in range(2)]
    assert statuses == [200] * 6
    assert asked == [200, 429]


def test_the_page_has_the_name_greeting_and_logo_of_its_owner(tmp_path):
    logo = tmp_path / "logo.svg"
    logo.write_text('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
    (tmp_path / "page.yaml").write_text("name: Ask <Clinic>\ngreeting: What do you want to know, nurse?")
    with fake_groq() as groq:
        services = small_services(tmp_path, groq, page_path=tmp_path)
        with served(create_app(services)) as url, httpx.Client(base_url=url) as client:
            pages = [client.get(path, params={"lang": code}).text for path in ("/", "/embed") for code in languages()]
            icon = client.get("/icon")

    for page in pages:
        assert "Waypoint" not in page.replace("waypoint ask", "")
        assert "<title>Ask &lt;Clinic&gt;</title>" in page
        assert "<h1>What do you want to know, nurse?</h1>" in page
    assert (icon.text, icon.headers["content-type"]) == (logo.read_text(), "image/svg+xml")
    assert "default-src 'self'" in icon.headers["content-security-policy"]
    assert "unsafe" not in icon.headers["content-security-policy"]


def test_teams_and_questions_are_the_owners_and_without_a_language_model_in_english_alone(tmp_path):
    (tmp_path / "teams.yaml").write_text("other: {name: Ours}")
    (tmp_path / "examples.yaml").write_text("en: ['What is ours?']\nde: ['Was ist unseres?']")
    ways: list[dict] = [{}, {"page_path": tmp_path}, {"page_path": tmp_path, "llm_provider": "offline"}]
    with fake_groq() as groq:
        for number, settings in enumerate(ways):
            (tmp_path / str(number)).mkdir()
            with TestClient(create_app(small_services(tmp_path / str(number), groq, **settings))) as client:
                english, german = (client.get("/", params={"lang": code}).text for code in ("en", "de"))
            assert ('"teams">{}<' in english, '"Ours"' in english) == (number == 0, number > 0)
            assert ("What is ours?" in english, "Was ist unseres?" in german) == (number > 0, number == 1)


def test_health_tells_status_time_uptime_and_version(client):
    body = client.get("/api/health").json()
    assert set(body) == {"status", "timestamp", "uptime", "version"}
    assert body["status"] == "ok"
