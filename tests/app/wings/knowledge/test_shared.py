"""A link to a logged answer opens for colleagues who may see it, and says why not to others."""

from uuid import uuid4

import httpx
import pytest

from app.http.server import create_app
from app.ledger.answers import LoggedAnswer, Nearest, pack
from app.wings.knowledge import routes as shared
from app.wings.knowledge.answer_log import open_answers
from app.wiring import Service
from tests.access import bearer, key_entry
from tests.fakes import Reply, groq_server
from tests.served import ANSWER, QUESTION, guide_services, served, small_services
from tests.waiting import wait_until

KEYS = ",".join(
    [
        key_entry("anna", "anna-key", "ask"),
        key_entry("ben", "ben-key", "ask"),
        key_entry("staff", "staff-key", "ask:internal"),
    ]
)


groq = pytest.fixture(groq_server, scope="module")


services = guide_services(auth_mode="none", allow_anonymous=True, api_keys=KEYS, answer_log=True)


@pytest.fixture(autouse=True)
def _logged(monkeypatch, groq) -> None:
    monkeypatch.delenv("ANSWER_LOG")
    groq.replies[:] = [Reply(ANSWER)]


def asked(client: httpx.Client, services: Service, key: str) -> str:
    answer = client.post("/api/query", json={"query": QUESTION}, headers=bearer(key)).json()
    trace_id = str(answer["metadata"]["traceId"])
    wait_until(lambda: open_answers(services.settings).find(trace_id) is not None)
    return trace_id


def told(client: httpx.Client, trace_id: str, key: str | None) -> tuple[int, str]:
    response = client.get(f"/api/answers/{trace_id}", headers=bearer(key) if key else {})
    return response.status_code, response.json().get("message", "")


def test_a_colleague_reads_the_answer_with_its_citations(client, services):
    trace_id = asked(client, services, "anna-key")
    found = client.get(f"/api/answers/{trace_id}", headers=bearer("ben-key")).json()

    assert (found["question"], found["outcome"]) == (QUESTION, "answered")
    [citation] = found["citations"]
    assert found["answer"][citation["start"] : citation["end"]].startswith("[")
    assert citation["quote"]


def test_an_internal_answer_opens_for_staff_only(client, services):
    trace_id = asked(client, services, "staff-key")

    assert told(client, trace_id, "staff-key")[0] == 200
    assert told(client, trace_id, "anna-key") == (403, shared.INTERNAL)


def test_a_stranger_learns_nothing_not_even_whether_there_is_an_answer(client, services):
    known = asked(client, services, "anna-key")

    assert told(client, known, None) == told(client, str(uuid4()), None) == (403, shared.STRANGER)
    embedded = client.get(f"/api/answers/{known}", headers=bearer("anna-key") | {"X-Waypoint-Embed": "1"})
    assert embedded.status_code == 403


def test_an_answer_that_is_gone_or_without_proof_is_told_of(client, services):
    trace_id, log = str(uuid4()), open_answers(services.settings)
    bare = LoggedAnswer(trace_id, log.now(), None, None, None, "public", "answered", None, None, None, None, None)
    log.add(bare)

    assert told(client, str(uuid4()), "anna-key") == (404, shared.GONE)
    assert told(client, trace_id, "anna-key") == (404, shared.GONE)


def test_an_answer_whose_document_is_gone_is_not_shown(client, services):
    trace_id, log = str(uuid4()), open_answers(services.settings)
    source = {
        "title": "Old",
        "section": "",
        "page": None,
        "doc_id": "old",
        "quote": "x",
        "support": 1,
        "characters": [0, 1],
    }
    proof = pack({"answer": "It was 7 %.", "sentences": [{"start": 0, "end": 11, "sources": [source]}]})
    gone = LoggedAnswer(
        trace_id, log.now(), "What?", None, None, "public", "answered", None, None, None, None, None, packed=proof
    )
    log.add(gone)

    assert told(client, trace_id, "anna-key") == (404, shared.CHANGED)


def test_a_sentence_without_source_may_be_from_any_document_that_was_retrieved(client, services):
    log = open_answers(services.settings)
    sentences = [{"start": 0, "end": 11, "sources": []}]
    proof = pack({"answer": "It was 7 %.", "sentences": sentences})
    told_of = {}
    for doc_id in ("withdrawn", "01_regulatory_gst"):
        trace_id = str(uuid4())
        near = (Nearest("01_regulatory_gst", 0.9), Nearest(doc_id, 0.5))
        given = LoggedAnswer(
            trace_id, log.now(), "What?", None, None, "public", "answered", None, None, None, None, None, near, proof
        )
        log.add(given)
        told_of[doc_id] = told(client, trace_id, "anna-key")

    assert told_of == {"withdrawn": (404, shared.CHANGED), "01_regulatory_gst": (200, "")}


def test_a_service_without_a_log_says_so(groq, tmp_path):
    services = small_services(tmp_path, groq, answer_log=False)
    with served(create_app(services)) as url:
        response = httpx.get(f"{url}/api/answers/{uuid4()}")
    assert (response.status_code, response.json()["message"]) == (404, shared.NOT_KEPT)


def test_a_caller_lists_the_own_questions_and_nobody_elses(client, services):
    public, internal = asked(client, services, "anna-key"), asked(client, services, "staff-key")

    def listed(key: str | None) -> list[str]:
        found = client.get("/api/answers", headers=bearer(key) if key else {}).json()["answers"]
        return [one["trace_id"] for one in found]

    assert listed("anna-key")[0] == public
    assert listed("staff-key")[0] == internal
    assert internal not in listed("anna-key")
    assert public not in listed("staff-key")
    assert listed("ben-key") == listed(None) == []
