"""Who asked is told which words of an earlier answer have changed; others are not."""

from pathlib import Path
from typing import Any

import httpx

from app.http.server import create_app
from app.wings.knowledge.answer_log import open_answers
from tests.access import bearer, key_entry
from tests.fakes import Reply, fake_groq
from tests.served import ANSWER, GUIDE, QUESTION, served, small_services
from tests.waiting import wait_until

KEYS = ",".join([key_entry("anna", "anna-key", "ask"), key_entry("ben", "ben-key", "ask:internal")])


def test_who_asked_reads_old_and_new_words_and_nobody_else_is_told(tmp_path: Path, monkeypatch):
    monkeypatch.delenv("ANSWER_LOG_DAYS")
    with fake_groq() as groq:
        groq.replies[:] = [Reply(ANSWER)] * 2
        services = small_services(tmp_path, groq, auth_mode="public", api_keys=KEYS, answer_log_days=90)
        store = open_answers(services.settings)
        with served(create_app(services)) as url, httpx.Client(base_url=url) as client:

            def ask(headers: dict[str, str]) -> str:
                answer = client.post("/api/query", json={"query": QUESTION}, headers=headers).json()
                wait_until(lambda: store.find(answer["metadata"]["traceId"]) is not None)
                return str(answer["metadata"]["traceId"])

            def outdated(trace_id: str, headers: dict[str, str]) -> Any:
                response = client.post("/api/outdated", json={"trace_ids": [trace_id]}, headers=headers)
                assert response.status_code == 200, response.text
                return response.json()["outdated"]

            annas, nobodys = ask(bearer("anna-key")), ask({})
            assert outdated(annas, bearer("anna-key")) == {}
            (tmp_path / "01_regulatory" / "gst.md").write_text(GUIDE.replace("9 %", "10 %"))
            services.index.ingest([tmp_path])
            [change] = outdated(annas, bearer("anna-key"))[annas]
            assert "9 %" in change["old"]
            assert change["new"] == change["old"].replace("9 %", "10 %")
            assert outdated(annas, bearer("ben-key")) == outdated(annas, {}) == {}
            assert [*outdated(nobodys, {})] == [nobodys]  # Of an anonymous answer its id is enough.
