"""Who asked is told which words of an earlier answer have changed; others are not."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from app.http.server import create_app
from app.wings.knowledge.answer_log import open_answers
from tests.access import bearer, key_entry
from tests.fakes import Reply, fake_groq
from tests.served import ANSWER, GUIDE, QUESTION, served, small_services
from tests.waiting import wait_until

KEYS = ",".join([key_entry("anna", "anna-key", "ask"), key_entry("ben", "ben-key", "ask:internal")])


class Desk:
    """A service over one guide, whose words can change."""

    def __init__(self, client, services, folder):
        self.client, self.services, self.folder = client, services, folder

    def ask(self, key: str | None) -> str:
        answer = self.client.post("/api/query", json={"query": QUESTION}, headers=bearer(key) if key else {}).json()
        trace_id = str(answer["metadata"]["traceId"])
        wait_until(lambda: open_answers(self.services.settings).find(trace_id) is not None)
        return trace_id

    def write(self, text: str) -> None:
        (self.folder / "01_regulatory" / "gst.md").write_text(text)
        self.services.index.ingest([self.folder])

    def outdated(self, trace_id: str, key: str | None) -> dict[str, list[dict[str, str]]]:
        body = {"trace_ids": [trace_id]}
        response = self.client.post("/api/outdated", json=body, headers=bearer(key) if key else {})
        assert response.status_code == 200, response.text
        found: dict[str, list[dict[str, str]]] = response.json()["outdated"]
        return found


@pytest.fixture
def desk(tmp_path: Path, monkeypatch) -> Iterator[Desk]:
    monkeypatch.delenv("ANSWER_LOG_DAYS")
    with fake_groq() as groq:
        groq.replies[:] = [Reply(ANSWER)]
        settings = {"auth_mode": "public", "api_keys": KEYS, "answer_log_days": 90}
        services = small_services(tmp_path, groq, **settings)
        with served(create_app(services)) as url, httpx.Client(base_url=url) as client:
            yield Desk(client, services, tmp_path)


def test_who_asked_reads_old_and_new_words(desk):
    trace_id = desk.ask("anna-key")
    assert desk.outdated(trace_id, "anna-key") == {}

    desk.write(GUIDE.replace("9 %", "10 %"))
    [change] = desk.outdated(trace_id, "anna-key")[trace_id]
    assert "9 %" in change["old"]
    assert change["new"] == change["old"].replace("9 %", "10 %")


def test_nobody_else_is_told(desk):
    trace_id = desk.ask("anna-key")
    desk.write(GUIDE.replace("9 %", "10 %"))

    assert desk.outdated(trace_id, "ben-key") == {}
    assert desk.outdated(trace_id, None) == {}


def test_of_an_anonymous_answer_its_trace_id_is_enough_to_be_told(desk):
    trace_id = desk.ask(None)
    desk.write(GUIDE.replace("9 %", "10 %"))

    assert [*desk.outdated(trace_id, None)] == [trace_id]
