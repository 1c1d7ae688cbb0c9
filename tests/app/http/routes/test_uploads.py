"""Documents that are added and removed over HTTP: jobs, refusals, kills, and what answers make of it."""

import json
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from app.http.server import create_app
from app.wiring import Parts, Services, sample_corpus
from tests.access import bearer, key_entry, settings_over
from tests.documents import pdf
from tests.fakes import WordEmbeddings
from tests.office_documents import eml, epub, pptx, xlsx
from tests.served import served
from tests.waiting import wait_until

STAFF, PUBLIC, ADDER = bearer("staff"), bearer("public"), bearer("adder")
KEYS = ",".join(
    [
        key_entry("staff", "staff", "ask:internal+ingest"),
        key_entry("adder", "adder", "ask+ingest"),
        key_entry("public", "public", "ask"),
    ]
)
QUESTION = {"query": "What is the fee for a tarpaulin in the depot?", "threshold": 0}
GUIDE = "# Tarpaulins\n\n## Fee\n\nThe fee for a tarpaulin in the depot is 12 dollars."


def services_over(folder: Path, **settings: Any) -> Services:
    chosen = {"auth_mode": "api_key", "api_keys": KEYS, "warm_up": False, "llm_provider": "offline", "min_chunks": 0}
    chosen_settings = settings_over(folder, "http://127.0.0.1:1", **chosen | settings)
    return Services(chosen_settings, parts=Parts(embeddings=WordEmbeddings()))


@pytest.fixture(scope="module")
def services(tmp_path_factory) -> Services:
    folder = tmp_path_factory.mktemp("uploads")
    (folder / "docs" / "internal").mkdir(parents=True)
    (folder / "docs" / "rates.md").write_text("# Rates\n\nThe rate of a crane is 7 dollars.")
    (folder / "docs" / "internal" / "margin.md").write_text("# Margin\n\nThe margin is 3 %.")
    services = services_over(folder, upload_max_mb=1, upload_max_files=3, cache_enabled=True)
    services.ingest([folder / "docs"])
    return services


@pytest.fixture(scope="module")
def client(services) -> Iterator[TestClient]:
    with TestClient(create_app(services)) as client:
        yield client


def send(client: TestClient, files: Mapping[str, bytes | str], who: dict[str, str] = STAFF, **fields: str) -> Any:
    parts = [
        ("files", (name, content if isinstance(content, bytes) else content.encode()))
        for name, content in files.items()
    ]
    return client.post("/api/documents", files=parts, data=fields, headers=who)


def ended(client: TestClient, accepted: Any) -> dict[str, Any]:
    """Return the last event of a job."""
    assert accepted.status_code == 202, accepted.text
    with client.stream("GET", accepted.json()["events"], headers=STAFF) as events:
        told = [line for line in events.iter_lines() if line]
    assert told[-2] == "event: end"
    assert "event: progress" in told
    return json.loads(told[-1].removeprefix("data: "))


def upload(client: TestClient, files: Mapping[str, bytes | str], **fields: str) -> dict[str, Any]:
    return ended(client, send(client, files, STAFF, **fields))


def ids(client: TestClient, who: dict[str, str] = STAFF) -> set[str]:
    found = client.get("/api/documents", params={"limit": 500}, headers=who).json()["documents"]
    return {one["doc_id"] for one in found}


def titles(client: TestClient) -> list[str]:
    answer = client.post("/api/query", json=QUESTION, headers=STAFF)
    assert answer.status_code == 200, answer.text
    return [one["title"] for one in answer.json()["relatedDocs"]]


def test_an_uploaded_document_answers_at_once_and_a_removed_one_no_longer(client, services):
    assert "Tarpaulins" not in titles(client)
    before = ids(client)
    end = upload(client, {"tarpaulins.md": GUIDE}, category="regulatory")
    assert end["state"] == "done"
    assert end["report"]["problems"] == []
    (doc_id,) = ids(client) - before
    listed = client.get("/api/documents", params={"search": "tarpaulins"}, headers=STAFF).json()["documents"][0]
    assert (listed["category"], listed["uploaded"], listed["removable"]) == ("regulatory", True, True)
    assert titles(client)[0] == "Tarpaulins"
    file = services.uploads.folder / "regulatory" / "tarpaulins.md"
    assert file.read_text() == GUIDE

    assert client.delete(f"/api/documents/{doc_id}", headers=STAFF).status_code == 204
    assert "Tarpaulins" not in titles(client)
    assert client.get(f"/documents/{doc_id}", headers=STAFF).status_code == 404
    assert client.delete(f"/api/documents/{doc_id}", headers=STAFF).status_code == 404
    assert not file.exists()


def test_a_removed_document_of_a_folder_keeps_its_file(client, services):
    folder = services.settings.chroma_path.parent / "more"
    folder.mkdir()
    (folder / "kept.md").write_text("# Kept\n\nWords that stay on the disk.")
    services.ingest([folder])
    assert client.delete("/api/documents/kept", headers=STAFF).status_code == 204
    assert "kept" not in ids(client)
    assert (folder / "kept.md").exists()


def test_a_file_that_cannot_be_read_is_named_and_not_left_behind(client, services):
    end = upload(client, {"good.md": "# Good\n\nGood words.", "bad.pdf": b"no pdf", "void.txt": ""})
    assert end["state"] == "done"
    assert {one["path"] for one in end["report"]["problems"]} == {"bad.pdf", "void.txt"}
    assert all(one["reason"] for one in end["report"]["problems"])
    folder = services.uploads.folder / "uploaded"
    assert not (folder / "bad.pdf").exists()
    assert not (folder / "void.txt").exists()
    assert (folder / "good.md").exists()
    assert "good" in ids(client)


@pytest.mark.parametrize(
    ("name", "content", "quote", "page"),
    [
        ("slides.pptx", pptx(("Cover", "Words"), ("Fee", "The winch costs 9.")), "The winch costs 9.", 2),
        ("sheet.xlsx", xlsx({"Fees": [["Thing", "Fee"], ["Winch", 9]]}), "Thing: Winch; Fee: 9", None),
        ("values.csv", b"Thing,Fee\nWinch,9\n", "Thing: Winch; Fee: 9", None),
        ("mail.eml", eml("The winch costs 9.", Subject="Fee of a winch"), "The winch costs 9.", None),
        ("book.epub", epub("<h1>Fees</h1><p>The winch costs 9."), "The winch costs 9.", None),
        ("lines.jsonl", b'{"title": "Winch", "text": "The winch costs 9."}', "The winch costs 9.", None),
    ],
    ids=["slides", "sheet", "values", "mail", "book", "lines"],
)
def test_every_format_is_added_and_shown_with_the_quoted_words_marked(client, name, content, quote, page):
    assert upload(client, {name: content})["report"]["problems"] == []
    shown = client.get(f"/documents/{name.partition('.')[0]}", params={"quote": quote}, headers=STAFF).json()
    assert (shown["marked"], shown["page"]) == (True, page)
    assert "<mark" in shown["html"]


def test_files_are_counted_by_what_became_of_them(client, services):
    def counted() -> dict[str, float]:
        families = text_string_to_metric_families(services.metrics.text().decode())
        samples = [sample for family in families for sample in family.samples]
        return {one.labels["result"]: one.value for one in samples if one.name == "waypoint_uploaded_files_total"}

    before = counted()
    upload(client, {"counted.md": "# Counted\n\nWords.", "uncounted.pdf": b"no pdf"})
    after = counted()
    assert {result: after[result] - before[result] for result in after} == {"added": 1, "failed": 1}


def test_a_file_of_the_same_name_replaces_the_older_one_only_when_it_may(client, services):
    upload(client, {"same.md": "# Same\n\nThe older words."})
    refused = send(client, {"same.md": "# Same\n\nThe newer words."})
    assert refused.status_code == 409
    assert "'same.md'" in refused.json()["message"]
    assert "older words" in client.get("/documents/same", headers=STAFF).json()["html"]

    end = upload(client, {"same.md": "# Same\n\nThe newer words."}, replace="true")
    assert end["report"]["replaced"] == ["same.md"]
    assert "newer words" in client.get("/documents/same", headers=STAFF).json()["html"]


def test_a_replacement_that_cannot_be_read_leaves_the_older_one(client, services):
    upload(client, {"older.pdf": pdf("The older page")})
    end = upload(client, {"older.pdf": b"broken"}, replace="true")
    assert [one["path"] for one in end["report"]["problems"]] == ["older.pdf"]
    assert end["report"]["replaced"] == []
    assert "The older page" in client.get("/documents/older", headers=STAFF).json()["html"]
    assert (services.uploads.folder / "uploaded" / "older.pdf").read_bytes() == pdf("The older page")
    assert client.get("/documents/older/pages/1.png", headers=STAFF).status_code == 200


def test_an_internal_document_is_internal_wherever_it_comes_from(client):
    upload(client, {"secret.md": "# Secret\n\nThe word is tangerine."}, category="internal")
    assert "secret" in ids(client)
    assert "secret" not in ids(client, PUBLIC)
    assert client.get("/documents/secret", headers=PUBLIC).status_code == 404
    forbidden = client.delete("/api/documents/secret", headers=ADDER)
    missing = client.delete("/api/documents/nothing", headers=ADDER)
    assert forbidden.status_code == missing.status_code == 404
    assert forbidden.json() == missing.json()
    assert "secret" in ids(client)


def test_only_a_caller_with_the_scope_adds_removes_and_follows(client):
    accepted = send(client, {"scope.md": "# Scope\n\nWords."}, ADDER)
    job = accepted.json()["events"]
    ended(client, accepted)
    assert client.get(job, headers=PUBLIC).status_code == 403
    assert send(client, {"a.md": "# A\n\nWords."}, PUBLIC).status_code == 403
    assert client.delete("/api/documents/scope", headers=PUBLIC).status_code == 403
    assert send(client, {"a.md": "# A\n\nWords."}, {}).status_code == 401
    assert client.get("/api/documents", headers=PUBLIC).json()["upload"] is None
    assert client.get("/api/documents", headers=ADDER).json()["upload"]["max_mb"] == 1


@pytest.mark.parametrize(
    ("files", "status"),
    [
        ({"a.exe": "x"}, 400),
        ({"README.md": "# A"}, 400),
        ({".md": "# A"}, 400),
        ({"a.md": "x", "A.md": "y"}, 400),
        ({"large.md": "x" * 2**20}, 413),
        ({f"{number}.md": "x" for number in range(4)}, 400),
        ({}, 400),
    ],
    ids=["an unknown ending", "a README", "no name", "one name twice", "too large", "too many", "no files"],
)
def test_what_cannot_be_kept_is_refused_as_a_whole(client, services, files, status):
    before = ids(client)
    refused = send(client, files)
    assert refused.status_code == status, refused.text
    assert refused.json()["message"]
    assert ids(client) == before
    waiting = services.uploads.folder.with_name(f"{services.uploads.folder.name}.waiting")
    assert not waiting.exists() or list(waiting.iterdir()) == []


def test_a_body_that_is_no_form_is_refused(client):
    assert client.post("/api/documents", json={"files": []}, headers=STAFF).status_code == 400
    broken = client.post("/api/documents", content=b"x", headers=STAFF | {"content-type": "multipart/form-data"})
    assert broken.status_code == 400
    assert send(client, {"a.md": "x"}, category="../..").status_code == 400


def test_an_upload_waits_for_an_ingestion_that_is_at_work(client, services):
    with services.stored.locked():
        accepted = send(client, {"later.md": "# Later\n\nWords."})
        job = accepted.json()["events"].removesuffix("/events")
        wait_until(lambda: "Another ingestion" in client.get(job, headers=STAFF).json()["message"])
        busy = client.delete("/api/documents/rates", headers=STAFF)
        assert busy.status_code == 409
        assert "rates" in ids(client)
    assert ended(client, accepted)["state"] == "done"
    assert "later" in ids(client)


def test_uploads_at_the_same_time_are_all_added(client):
    answers: list[Any] = []

    def add(number: int) -> None:
        answers.append(send(client, {f"many{number}.md": f"# Many {number}\n\nWords of {number}."}))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {ended(client, answer)["state"] for answer in answers} == {"done"}
    assert {f"many{number}" for number in range(4)} <= ids(client)


def test_an_upload_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    services = services_over(tmp_path)
    monkeypatch.setattr(type(services.ingestion), "add", lambda *_, **__: 1 / 0)
    with TestClient(create_app(services)) as client:
        end = upload(client, {"a.md": "# A\n\nWords."})
    assert end["state"] == "failed"
    assert "not added" in end["message"]
    assert end["report"] is None
    assert not [path for path in services.uploads.folder.rglob("*") if path.is_file()]


def test_an_unknown_job_is_not_found(client):
    unknown = "0b6d7c0e-3f0a-4c39-9a43-9c7a1c1f7f3e"
    assert client.get(f"/api/jobs/{unknown}", headers=STAFF).status_code == 404
    assert client.get(f"/api/jobs/{unknown}/events", headers=STAFF).status_code == 404
    assert client.get("/api/jobs/..%2f..%2fsecret", headers=STAFF).status_code in {404, 422}


def test_the_sample_corpus_stays_beside_an_upload_and_does_not_come_back_once_removed(tmp_path):
    services = services_over(tmp_path)
    services.ingest([])
    with TestClient(create_app(services)) as client:
        samples = client.get("/api/documents", headers=STAFF).json()["samples"]
        assert samples == len(list(sample_corpus().rglob("0*/*.md")))
        upload(client, {"own.md": GUIDE})
        assert client.get("/api/documents", headers=STAFF).json()["samples"] == samples
        assert services.stored.holds_own_documents()
        client.delete("/api/documents/01_regulatory_sg_gst_guide", headers=STAFF)
        assert client.get("/api/documents", headers=STAFF).json()["samples"] == samples - 1


def test_an_upload_over_a_real_connection_streams_to_the_disk(tmp_path):
    with (
        served(create_app(services_over(tmp_path, upload_max_mb=1))) as url,
        httpx.Client(base_url=url, timeout=60, headers=STAFF) as client,
    ):
        accepted = client.post("/api/documents", files=[("files", ("wire.md", b"# Wire\n\n" + b"words " * 100_000))])
        assert accepted.status_code == 202, accepted.text
        with client.stream("GET", accepted.json()["events"]) as events:
            assert "event: end" in list(events.iter_lines())
        too_large = client.post("/api/documents", files=[("files", ("large.md", b"x" * 3 * 2**20))])
        assert too_large.status_code == 413
        assert "1 MB" in too_large.json()["message"]


def test_a_refused_method_is_told_what_the_path_allows(client):
    refused = client.put("/api/documents", headers=STAFF)
    assert refused.status_code == 405
    assert refused.headers["allow"] == "GET, POST"
