"""Answers of the service and of commands are logged with their proof, without personal data, and break for nothing."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from app import hooks
from app.http.routes.feedback import OTHERS
from app.http.server import create_app
from app.ledger.answers import AnswerStore, LoggedAnswer
from app.settings import load_settings
from app.wings.knowledge.answer_log import open_answers, redacted
from app.wings.knowledge.verification import Document, verify
from app.wiring import Service, open_service
from app.wiring.storage import ledger_of
from tests.access import bearer, key_entry
from tests.corpora import write_documents
from tests.fakes import Reply, groq_server
from tests.served import ANSWER, GUIDE, QUESTION, guide_services, served
from tests.waiting import wait_until

NAMES = {"anna": "ask+feedback", "ben": "ask+feedback", "staff": "ask:internal"}
KEYS = ",".join(key_entry(name, f"{name}-key", scopes) for name, scopes in NAMES.items())


groq = pytest.fixture(groq_server, scope="module")


services = guide_services(auth_mode="api_key", api_keys=KEYS, answer_log=True)


@pytest.fixture(scope="module")
def client(services) -> Iterator[httpx.Client]:
    with served(create_app(services)) as url, httpx.Client(base_url=url, headers=bearer("anna-key")) as client:
        yield client


@pytest.fixture(scope="module")
def store(services) -> AnswerStore:
    return open_answers(services.settings)


@pytest.fixture(autouse=True)
def _logged(monkeypatch) -> None:
    monkeypatch.delenv("ANSWER_LOG")


@pytest.fixture(autouse=True)
def _answers(groq) -> None:
    groq.replies[:] = [Reply(ANSWER)]


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


def test_who_asked_is_a_hash(client, store):
    anna = logged(store, ask(client))
    staff = logged(store, ask(client, headers=bearer("staff-key")))

    assert anna.asker == store.asker_of("anna")
    assert "anna" not in str(anna.asker)
    assert (staff.asker, staff.audience) == (store.asker_of("staff"), "internal")


def test_personal_data_is_in_neither_question_nor_proof(client, store):
    kept = logged(store, ask(client, f"{QUESTION} Tell anna@example.org."))

    assert kept.question == f"{QUESTION} Tell <EMAIL>."
    assert kept.certificate
    assert kept.certificate["question"] == kept.question


def test_a_score_finds_its_answer_and_its_comment_loses_personal_data(client, store):
    trace_id = ask(client)
    sent = {"trace_id": trace_id, "score": -1, "comment": "Out of date. Tell anna@example.org."}

    assert client.post("/api/feedback", json=sent).json() == {"status": "accepted", "kept": True}
    kept = logged(store, trace_id)
    assert (kept.score, kept.comment) == (-1, "Out of date. Tell <EMAIL>.")


def test_feedback_on_the_answer_of_somebody_else_is_refused_and_told_to_nobody(client, store):
    trace_id = ask(client)
    sent = {"trace_id": trace_id, "score": 1}
    assert client.post("/api/feedback", json=sent | {"comment": "Good."}).status_code == 202
    refused = client.post("/api/feedback", json=sent, headers=bearer("ben-key"))

    assert (refused.status_code, refused.json()["message"]) == (403, OTHERS)
    assert logged(store, trace_id).comment == "Good."


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

    assert over(tmp_path, answer_log=False).answer_log is None
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
