"""POST /search, and a second service that asks it by RETRIEVAL_URL: chat and retrieval apart, as in MARP."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from app.cli.doctor import findings
from app.http.server import create_app
from tests.access import POSTED, QUESTION, bearer, key_entry, serving, settings_over, sources_shown
from tests.clocks import StoppedClock
from tests.fakes import FakeGroq, Reply
from tests.served import QUESTION as RATE
from tests.served import served, small_services

PUBLIC, INTERNAL = "The surcharge on weekends is 5 %.", "The surcharge on weekends is 7 %, in confidence."
KEYS = ",".join([key_entry("staff", "staff", "ask+ask:internal"), key_entry("guest", "guest", "ask")])


@pytest.fixture(scope="module")
def retrieval(corpus, groq) -> Iterator[str]:
    """The address of a service over a public and an internal document, for holders of keys."""
    with serving(settings_over(corpus, groq.url, auth_mode="api_key", api_keys=KEYS, rate_limit="off")) as url:
        yield url


def search(url: str, key: str, **body: Any) -> httpx.Response:
    return httpx.post(f"{url}/search", json={"query": QUESTION} | body, headers=bearer(key))


def texts(response: httpx.Response) -> set[str]:
    return {result["text"].splitlines()[-1] for result in response.raise_for_status().json()["results"]}


def test_passages_come_in_the_form_of_the_contract(tmp_path, groq):
    with served(create_app(small_services(tmp_path, groq))) as url:
        answer = httpx.post(f"{url}/search", json={"query": RATE, "top_k": 1}).json()

    [result] = answer.pop("results")
    assert answer == {"query": RATE}
    score, metadata = result.pop("score"), result.pop("metadata")
    assert 0.3 < score <= 1
    assert (metadata["section"], metadata["audience"]) == ("Rate", "public")
    assert result.pop("text").endswith("The rate of GST on imports into Singapore is 9 %.")
    assert result == {
        "document_id": "01_regulatory_gst",
        "chunk_index": 0,
        "title": "GST Guide",
        "page": 0,
        "url": "https://example.org/gst",
        "source_urls": ["https://example.org/gst"],
    }


def test_each_caller_sees_what_it_may_and_may_ask_for_less(retrieval):
    assert texts(search(retrieval, "staff")) == {PUBLIC, INTERNAL}
    assert texts(search(retrieval, "guest")) == {PUBLIC}
    assert texts(search(retrieval, "staff", audience="public")) == {PUBLIC}
    assert search(retrieval, "guest", audience="internal").status_code == 400


@pytest.mark.parametrize("body", [{"query": ""}, {"query": 7}, {"top_k": 0}, {"top_k": "5"}, {"top_k": 101}])
def test_what_does_not_fit_is_a_400(retrieval, body):
    response = search(retrieval, "staff", **body)

    assert (response.status_code, set(response.json())) == (400, {"error", "message"})


def test_without_a_key_nothing_is_searched(retrieval):
    assert httpx.post(f"{retrieval}/search", json={"query": QUESTION}).status_code == 401


@pytest.fixture
def chat(tmp_path, retrieval, groq) -> Any:
    """The settings of a service without documents that asks the other one."""
    options = {"retrieval_url": retrieval, "retrieval_api_key": "staff"}
    return settings_over(tmp_path, groq.url, allow_anonymous=True, rate_limit="off", **options)


@pytest.mark.parametrize("path", ["/api/query", "/chat"])
def test_a_service_without_documents_answers_from_the_other_one(chat, groq, path):
    groq.replies[:] = [Reply("It is 5 % [1]. It is 5 % [01_regulatory guide > Rate].")]
    with serving(chat) as url:
        answer = httpx.post(url + path, json=POSTED).raise_for_status().json()

    assert answer["citations"][0]["title"] == "01_regulatory guide"
    assert "in confidence" not in sources_shown(groq.requests[-1])  # Strangers ask here.


def test_it_opens_no_index_of_its_own_and_takes_no_documents(chat, groq):
    groq.replies[:] = [Reply("It is 5 % [01_regulatory guide > Rate].")]
    staff = chat.replace(allow_anonymous=False)  # On this machine everybody may add documents.
    with serving(staff) as url:
        httpx.post(f"{url}/api/query", json=POSTED).raise_for_status()
        made = [file for file in chat.chroma.path.rglob("*.sqlite3") if ".ledger." not in file.name]
        listed = httpx.get(f"{url}/api/documents").json()
        added = httpx.post(f"{url}/api/documents", files={"files": ("a.md", b"# A")})

    assert made == []
    assert listed["upload"] is None
    assert (added.status_code, "RETRIEVAL_URL" in added.json()["message"]) == (409, True)


def test_health_names_the_retrieval_service_and_asks_it(chat, retrieval):
    with serving(chat) as url:
        told = httpx.get(f"{url}/health").json()
        ready = httpx.get(f"{url}/health/ready")

    assert told["retrieval_url"] == retrieval
    assert ready.status_code == 200
    assert ready.json()["checks"]["retrieval"]["state"] == "ok"


def test_a_retrieval_service_that_is_away_is_a_503_and_the_service_not_ready(chat):
    away = chat.replace(retrieval_url="http://127.0.0.1:1")
    with serving(away, clock=StoppedClock()) as url:  # What is asked again is asked at once.
        asked = httpx.post(f"{url}/api/query", json=POSTED)
        ready = httpx.get(f"{url}/health/ready")

    assert (asked.status_code, asked.json()["message"][:13]) == (503, "The documents")
    assert ready.status_code == 503
    assert ready.json()["checks"]["retrieval"]["required"]


def test_doctor_tries_the_retrieval_service(chat):
    told = {finding.part: finding for finding in findings(chat)}

    assert told["retrieval service"].state == "ok"
    assert "vector store" not in told


def test_a_service_that_asks_another_ingests_no_samples(chat, waypoint, monkeypatch, groq: FakeGroq):
    groq.replies[:] = [Reply("It is 5 % [01_regulatory guide > Rate].")]
    for name in ("retrieval_url", "llm_base_url"):
        monkeypatch.setenv(name.upper(), chat.as_variables()[name])
    monkeypatch.setenv("RETRIEVAL_API_KEY", "staff")
    monkeypatch.setenv("LLM_API_KEY", "gsk_test")
    code, out, err = waypoint("ask", QUESTION)

    assert (code, "ingesting" in err) == (0, False)
    assert "01_regulatory guide > Rate" in out


@pytest.mark.parametrize("plain", [False, True])
def test_a_search_has_one_line_in_the_log_with_its_words_only_where_that_is_set(tmp_path, groq, caplog, plain):
    services = small_services(tmp_path, groq, log_questions=plain)
    with caplog.at_level("INFO"), served(create_app(services)) as url:
        httpx.post(f"{url}/search", json={"query": RATE}).raise_for_status()

    [line] = [record.getMessage() for record in caplog.records if record.name == "app.wiring.chain"]
    assert line.startswith("search ")
    assert "passages=1" in line
    assert (RATE in line) is plain
