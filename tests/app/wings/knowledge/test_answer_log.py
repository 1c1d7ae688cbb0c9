"""Answers of the service and of commands are logged with their proof, without personal data, and break for nothing."""

from collections.abc import Iterator
from itertools import product
from typing import Any
from uuid import uuid4

import httpx
import pytest
from structlog.testing import capture_logs

from app import hooks
from app.http.routes.answers import OTHERS
from app.http.server import create_app
from app.ledger.answers import AnswerStore, LoggedAnswer, Nearest, pack
from app.settings import load_settings
from app.wings.knowledge import routes as shared
from app.wings.knowledge.answer_log import open_answers, redacted
from app.wings.knowledge.verification import Document, verify
from app.wiring import Service, open_service
from app.wiring.storage import ledger_of
from tests.access import bearer, key_entry
from tests.corpora import write_documents
from tests.fakes import groq_server
from tests.ledger.test_answers import answer
from tests.served import ANSWER, GUIDE, QUESTION, answering, guide_services, served, small_services
from tests.waiting import wait_until

NAMES = {"anna": "ask+feedback", "ben": "ask+feedback", "staff": "ask:internal"}
KEYS = ",".join(key_entry(name, f"{name}-key", scopes) for name, scopes in NAMES.items())
groq = pytest.fixture(groq_server, scope="module")
services = guide_services(auth_mode="public", api_keys=KEYS, answer_log_days=90)


@pytest.fixture(scope="module")
def client(url) -> Iterator[httpx.Client]:
    """Anna's."""
    with httpx.Client(base_url=url, headers=bearer("anna-key")) as client:
        yield client


@pytest.fixture(scope="module")
def stranger(url) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url) as client:
        yield client


@pytest.fixture(scope="module")
def store(services) -> AnswerStore:
    return open_answers(services.settings)


@pytest.fixture(autouse=True)
def _logged(monkeypatch) -> None:
    monkeypatch.delenv("ANSWER_LOG_DAYS")


_answers = answering(ANSWER)


def ask(client: httpx.Client, question: str = QUESTION, **more: Any) -> str:
    answer = client.post("/api/query", json={"query": question, **more.pop("body", {})}, **more).json()
    return str(answer["metadata"]["traceId"])


def logged(store: AnswerStore, trace_id: str) -> LoggedAnswer:
    wait_until(lambda: store.find(trace_id))
    found = store.find(trace_id)
    assert found
    return found


def test_an_answer_is_logged_with_a_proof_that_verifies(client, store, services):
    kept = logged(store, ask(client, body={"language": "id"}))

    assert (kept.question, kept.search_query, kept.language, kept.audience) == (QUESTION, None, "id", "public")
    assert (kept.outcome, kept.level, kept.model) == ("answered", "medium", services.settings.llm.model)
    assert kept.index_version == services.index.current().version
    assert [one.doc_id for one in kept.nearest] == ["01_regulatory_gst"]
    assert kept.certificate
    assert [verdict.rule for verdict in verify(kept.certificate, lambda _: Document(GUIDE.encode()))] == ["figures"]


def test_personal_data_is_in_neither_question_nor_proof(client, store):
    kept = logged(store, ask(client, f"{QUESTION} Tell anna@example.org."))

    assert kept.question == f"{QUESTION} Tell <EMAIL>."
    assert kept.certificate
    assert kept.certificate["question"] == kept.question


def test_a_score_finds_its_answer_loses_personal_data_and_is_refused_from_somebody_else(client, store):
    trace_id = ask(client)
    sent = {"trace_id": trace_id, "score": -1, "comment": "Out of date. Tell anna@example.org."}

    assert client.post("/api/feedback", json=sent).json() == {"status": "accepted", "kept": True}
    kept = logged(store, trace_id)
    assert (kept.score, kept.comment) == (-1, "Out of date. Tell <EMAIL>.")
    others = bearer("ben-key"), {"Authorization": ""}, bearer("anna-key") | {"X-Waypoint-Embed": "1"}
    for other, score in product(others, (1, 0, -1)):
        refused = client.post("/api/feedback", json={"trace_id": trace_id, "score": score}, headers=other)
        assert refused.status_code == 403, (other, score)
    assert refused.json()["message"] == OTHERS
    kept = logged(store, trace_id)
    assert (kept.score, kept.comment) == (-1, "Out of date. Tell <EMAIL>.")


def test_a_stream_is_logged_as_an_answer_is(client, store, services):
    before = store.count()
    with client.stream("POST", "/copilot/stream", json={"input": {"question": QUESTION}}) as stream:
        assert b"citations" in stream.read()

    wait_until(lambda: store.count() > before)
    assert next(iter(store.answers())).outcome == "answered"


def test_a_user_s_answers_are_forgotten_by_a_command(client, store, services, waypoint, monkeypatch):
    trace_id = ask(client)
    logged(store, trace_id)
    monkeypatch.setenv("CHROMA_PATH", str(services.settings.chroma.path))

    code, out, _ = waypoint("forget", "anna")

    assert code == 0
    assert "answers of 'anna' from" in out
    assert store.find(trace_id) is None


def over(tmp_path, **settings: Any) -> Service:
    """Return services that answer nothing from documents, and log as they are told."""
    return open_service(
        load_settings(_env_file=None, chroma_path=tmp_path / "store", llm_provider="offline", **settings)
    )


def test_what_the_service_may_keep_the_log_may_not(tmp_path):
    services = over(tmp_path, safety_pii="off")
    services.chain.invoke({"question": "Thanks, says anna@example.org!"})

    store = open_answers(services.settings)
    wait_until(store.count)
    [kept] = store.answers()
    assert kept.question == "Thanks, says <EMAIL>!"


def test_what_nothing_can_redact_is_not_written(monkeypatch):
    def left_out(kind: str, name: str) -> Any:
        raise hooks.LeftOutError

    monkeypatch.setattr(hooks, "load", left_out)
    assert redacted("Call +65 6123 4567") is None


def test_a_ledger_that_cannot_be_written_costs_the_log_and_no_answer(tmp_path):
    services = over(tmp_path)
    with ledger_of(services.settings).changing() as connection:
        connection.exec_driver_sql("ALTER TABLE answers RENAME TO elsewhere")

    with capture_logs() as lines:
        for _ in range(2):
            assert services.chain.invoke({"question": "Thanks!"})["outcome"] == "small_talk"
        assert services.answer_log
        services.answer_log.close()
    assert [line["event"] for line in lines if line["log_level"] == "warning"] == ["answers_not_kept"]


def test_nothing_is_logged_where_the_log_is_off_or_answers_are_only_tested(tmp_path):
    settings = over(tmp_path).settings

    assert over(tmp_path, answer_log_days=0).answer_log is None
    assert open_service(settings, serving=False).answer_log is None
    assert open_service(settings, serving=False, logs_answers=True).answer_log is not None


@pytest.fixture
def corpus(tmp_path, waypoint) -> None:
    cases = f"- question: {QUESTION}\n  must_say: 9 %\n"
    waypoint("ingest", str(write_documents(tmp_path / "desk", {"gst.md": GUIDE, "gst.tests.yaml": cases})))


def test_answers_of_commands_are_logged_and_those_of_tests_are_not(corpus, tmp_path, waypoint):
    store = open_answers(load_settings())
    assert waypoint("test", str(tmp_path / "desk"))[0] == 0
    assert waypoint("why", QUESTION, "--expect", "gst.md")[0] == 0
    assert store.count() == 0

    assert waypoint("ask", QUESTION)[0] == 0
    wait_until(lambda: store.count() == 1)
    assert next(iter(store.answers())).audience == "internal"


def planted(store: AnswerStore, **values: Any) -> str:
    """Log an answer as it would be without these values, and return its id."""
    plain = answer(**{"at": store.now(), "nearest": (), "packed": None} | values)
    store.add(plain)
    return plain.trace_id


def proof(*sources: dict[str, Any]) -> bytes | None:
    return pack({"answer": "It was 7 %.", "sentences": [{"start": 0, "end": 11, "sources": list(sources)}]})


def asked(stranger: httpx.Client, store: AnswerStore, key: str) -> str:
    trace_id = ask(stranger, headers=bearer(key))
    logged(store, trace_id)
    return trace_id


def told(stranger: httpx.Client, trace_id: str, key: str | None) -> tuple[int, str]:
    response = stranger.get(f"/api/answers/{trace_id}", headers=bearer(key) if key else {})
    return response.status_code, response.json().get("message", "")


def test_a_colleague_reads_the_answer_with_its_citations(stranger, store):
    trace_id = asked(stranger, store, "anna-key")
    found = stranger.get(f"/api/answers/{trace_id}", headers=bearer("ben-key")).json()

    assert (found["question"], found["outcome"]) == (QUESTION, "answered")
    [citation] = found["citations"]
    assert found["answer"][citation["start"] : citation["end"]].startswith("[")
    assert citation["quote"]


def test_an_internal_answer_opens_for_staff_only(stranger, store):
    trace_id = asked(stranger, store, "staff-key")

    assert told(stranger, trace_id, "staff-key")[0] == 200
    assert told(stranger, trace_id, "anna-key") == (403, shared.INTERNAL)


def test_a_stranger_learns_nothing_not_even_whether_there_is_an_answer(stranger, store):
    known = asked(stranger, store, "anna-key")

    assert told(stranger, known, None) == told(stranger, str(uuid4()), None) == (403, shared.STRANGER)
    embedded = stranger.get(f"/api/answers/{known}", headers=bearer("anna-key") | {"X-Waypoint-Embed": "1"})
    assert embedded.status_code == 403


def test_an_answer_that_is_gone_without_proof_or_without_its_document_is_told_of(stranger, store):
    source = {"title": "Old", "section": "", "page": None, "doc_id": "old", "quote": "x", "support": 1}
    bare, changed = planted(store, question=None), planted(store, packed=proof(source | {"characters": [0, 1]}))

    assert told(stranger, str(uuid4()), "anna-key") == (404, shared.GONE)
    assert told(stranger, bare, "anna-key") == (404, shared.GONE)
    assert told(stranger, changed, "anna-key") == (404, shared.CHANGED)


@pytest.mark.parametrize(
    ("doc_id", "expected"), [("withdrawn", (404, shared.CHANGED)), ("01_regulatory_gst", (200, ""))]
)
def test_a_sentence_without_source_may_be_from_any_document_that_was_retrieved(stranger, store, doc_id, expected):
    near = (Nearest("01_regulatory_gst", 0.9), Nearest(doc_id, 0.5))
    assert told(stranger, planted(store, nearest=near, packed=proof()), "anna-key") == expected


def test_a_service_without_a_log_says_so(groq, tmp_path):
    services = small_services(tmp_path, groq, answer_log_days=0)
    with served(create_app(services)) as url:
        response = httpx.get(f"{url}/api/answers/{uuid4()}")
    assert (response.status_code, response.json()["message"]) == (404, shared.NOT_KEPT)


def test_a_caller_lists_the_own_questions_and_nobody_elses(stranger, store):
    public, internal = asked(stranger, store, "anna-key"), asked(stranger, store, "staff-key")

    def listed(key: str | None) -> list[str]:
        found = stranger.get("/api/answers", headers=bearer(key) if key else {}).json()["answers"]
        return [one["trace_id"] for one in found]

    assert listed("anna-key")[0] == public
    assert listed("staff-key")[0] == internal
    assert internal not in listed("anna-key")
    assert public not in listed("staff-key")
    assert listed("ben-key") == listed(None) == []
