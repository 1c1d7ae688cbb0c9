import json
import sys

import pytest

from app.cli.doctor import findings as tried
from app.settings import load_settings
from tests.fakes import Reply
from tests.langsmith_stub import backend
from tests.rabbit import skip_without_broker, url
from tests.served import GUIDE


def findings(out: str) -> dict[str, str]:
    return {finding["part"]: finding["state"] for finding in json.loads(out)["findings"]}


def test_a_working_desk_is_all_ok_says_what_is_off_and_tries_moderation_and_a_server_of_ones_own(
    waypoint, groq, tmp_path
):
    (tmp_path / "gst.md").write_text(GUIDE)
    waypoint("ingest", str(tmp_path / "gst.md"))
    code, out, err = waypoint("doctor", GROQ_API_KEY="gsk_test", LLM_BASE_URL=groq.url)

    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == [*["ok"] * 6, *["off"] * 6]
    assert "1 chunks, a search by exact search found 1" in out
    assert len(groq.requests) == 1

    groq.replies = [Reply("yes"), Reply("safe"), Reply("yes"), Reply("perhaps")]
    (first, works, _), (second, fails, _) = (waypoint("doctor", MODERATION_PROVIDER="groq") for _ in range(2))
    assert (first, second) == (0, 0)
    assert "groq allows 'Which documents are needed?'" in works
    assert "failed moderation" in fails
    assert "check MODERATION_API_KEY, MODERATION_BASE_URL and MODERATION_MODEL; questions are answered" in fails

    groq.models = ["qwen2.5:7b", "llama3.2:3b"]
    settings = {"LLM_PROVIDER": "ollama", "LLM_BASE_URL": f"{groq.url}/openai/v1", "MODERATION_PROVIDER": "off"}
    code, out, _ = waypoint("doctor", **settings)
    assert code == 0
    assert "qwen2.5:7b answered; the server lists qwen2.5:7b, llama3.2:3b" in out


def test_a_wing_that_was_left_out_is_named_and_the_others_are_tried(waypoint, monkeypatch):
    monkeypatch.setitem(sys.modules, "app.wings.events.plugin", None)
    code, out, _ = waypoint("doctor", "--json")

    assert code == 0
    assert findings(out)["moderation"] == "off"
    [events] = [one for one in json.loads(out)["findings"] if one["part"] == "events"]
    assert (events["state"], events["required"]) == ("off", False)
    assert "the folder of `events` was left out of it" in events["detail"]


def test_an_empty_index_works_and_variables_that_are_not_read_are_named_with_the_right_name(waypoint):
    code, out, err = waypoint("doctor", TOP_K="5", CHROMA_COLLECTION_NAME="mine")
    assert code == 0
    assert "0 chunks, a search by exact search found 0; fill it with `waypoint ingest PATH`" in out
    [line] = err.splitlines()
    assert "unknown_settings" in line
    assert "CHROMA_COLLECTION_NAME (use COLLECTION_NAME), TOP_K (use RETRIEVAL_TOP_K)" in line


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"GROQ_API_KEY": "gsk_test"}, "check LLM_API_KEY, LLM_BASE_URL and LLM_MODEL"),
        ({"LLM_PROVIDER": "llama-cpp"}, "start llama-cpp, or check LLM_BASE_URL and LLM_MODEL"),
    ],
)
def test_a_model_that_does_not_answer_fails_with_what_to_do_and_exit_code_1(waypoint, settings, told):
    code, out, _ = waypoint("doctor", LLM_BASE_URL="http://user:secret@127.0.0.1:9/v1", **settings)

    assert code == 1
    assert "failed language model" in out
    assert told in out
    assert "secret" not in out


def test_settings_that_do_not_fit_or_a_store_that_cannot_be_opened_are_a_finding(waypoint, tmp_path):
    (tmp_path / "file").write_text("in the way")
    code, out, _ = waypoint("doctor", "--json", CHROMA_PATH=str(tmp_path / "file" / "store"))
    states = findings(out)
    assert (code, states["embedding model"], states["vector store"]) == (1, "ok", "failed")

    code, out, _ = waypoint("doctor", "--json", PORT="x")
    assert (code, json.loads(out)["ok"], findings(out)) == (1, False, {"settings": "failed"})


@pytest.mark.parametrize(("auth_url", "exit_code"), [("http://127.0.0.1:9", 0), ("", 1)])
def test_redis_is_required_where_the_sessions_are_in_it(waypoint, auth_url, exit_code):
    code, out, _ = waypoint(
        "doctor", "--json", AUTH_MODE="session", AUTH_URL=auth_url, REDIS_URL="redis://127.0.0.1:9/0"
    )

    assert (code, findings(out)["redis"]) == (exit_code, "failed")


@pytest.mark.service
@pytest.mark.parametrize("store", ["chroma", "postgres"])
def test_a_ledger_in_a_database_is_tried_and_its_password_is_not_shown(waypoint, database_url, store):
    code, out, _ = waypoint("doctor", VECTOR_STORE_TYPE=store, DATABASE_URL=database_url)
    assert code == 0, out
    assert database_url.rpartition("@")[2] in out
    assert "s3cret" not in out

    code, out, _ = waypoint("doctor", DATABASE_URL="postgresql://user:s3cret@127.0.0.1:9/name")
    assert code == 1
    assert "failed vector store" in out
    assert "s3cret" not in out


@pytest.mark.service
def test_what_is_optional_may_fail_and_each_backend_is_tried(waypoint):
    skip_without_broker()
    settings = {"RABBITMQ_URL": url(), "RATE_LIMIT": "60/minute", "REDIS_URL": "redis://127.0.0.1:9/0"}
    settings |= {"LANGSMITH_TRACING": "true", "LANGSMITH_ENDPOINT": "http://127.0.0.1:9"}
    with backend() as stub:
        code, out, _ = waypoint("doctor", "--json", OTEL_EXPORTER_OTLP_ENDPOINT=stub.url, **settings)

    assert code == 0
    off, failed = ("language model", "moderation", "certified confidence", "contacts"), ("redis", "langsmith")
    ok = ["settings", "embedding model", "vector store", "office files", "events", "rabbitmq"]
    ok += ["opentelemetry", "side steps"]
    assert findings(out) == dict.fromkeys(off, "off") | dict.fromkeys(failed, "failed") | dict.fromkeys(ok, "ok")


@pytest.mark.parametrize(
    ("teams", "state", "told"),
    [
        ("other: {name: Front desk, contact: desk@kennel.test}", "ok", ""),
        ("other: {name: Front desk}", "failed", "contact: other"),
        (
            "vets: {name: Vets, contact: vets@kennel.test}\nother: {name: Desk, contact: desk@example.com}",
            "failed",
            "contact: other",
        ),
        ("other: {name: Desk, contact: +00 000 000}", "failed", "contact: other"),
        (None, "off", "teams.yaml in the folder of PAGE_PATH"),
    ],
)
def test_teams_without_a_contact_or_with_an_invented_one_are_named(tmp_path, teams, state, told):
    if teams:
        (tmp_path / "teams.yaml").write_text(teams)
    settings = load_settings(_env_file=None, page_path=tmp_path)
    contacts = next(finding for finding in tried(settings) if finding.part == "contacts")
    assert (contacts.state, told in contacts.detail, contacts.required) == (state, True, False)
