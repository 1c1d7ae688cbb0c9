"""Documents that are added and removed over HTTP: jobs, and what answers make of it."""

import os
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from app.http.server import create_app
from app.wiring import sample_corpus
from tests.office_documents import eml, epub, pptx, xlsx
from tests.served import served
from tests.uploads import GUIDE, STAFF, ended, ids, send, services_over, upload, upload_client, upload_services
from tests.waiting import wait_until

QUESTION = {"query": "What is the fee for a tarpaulin in the depot?", "threshold": 0}
services = pytest.fixture(upload_services, scope="module")
client = pytest.fixture(upload_client, scope="module")


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
    assert (listed["audience"], end["report"]["audience"]) == ("internal", "internal")
    file = services.uploads.folder / "internal" / "regulatory" / "tarpaulins.md"
    assert file.read_text() == GUIDE

    assert client.delete(f"/api/documents/{doc_id}", headers=STAFF).status_code == 204
    assert "Tarpaulins" not in titles(client)
    assert client.get(f"/documents/{doc_id}", headers=STAFF).status_code == 404
    assert client.delete(f"/api/documents/{doc_id}", headers=STAFF).status_code == 404
    assert not file.exists()


def test_a_removed_document_of_a_folder_keeps_its_file(client, services):
    folder = services.settings.chroma.path.parent / "more"
    folder.mkdir()
    (folder / "kept.md").write_text("# Kept\n\nWords that stay on the disk.")
    services.index.ingest([folder])
    assert client.delete("/api/documents/kept", headers=STAFF).status_code == 204
    assert "kept" not in ids(client)
    assert (folder / "kept.md").exists()


@pytest.mark.parametrize(
    ("name", "content", "quote", "page"),
    [
        ("slides.pptx", pptx(("Cover", "Words"), ("Fee", "The winch costs 9.")), "The winch costs 9.", 2),
        ("sheet.xlsx", xlsx({"Fees": [["Thing", "Fee"], ["Winch", 9]]}), "| Winch | 9 |", None),
        ("values.csv", b"Thing,Fee\nWinch,9\n", "| Winch | 9 |", None),
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


def test_an_upload_waits_for_an_ingestion_that_is_at_work(client, services):
    with services.index.stored.locked():
        accepted = send(client, {"later.md": "# Later\n\nWords."})
        job = accepted.json()["events"].removesuffix("/events")
        wait_until(lambda: "Other documents" in client.get(job, headers=STAFF).json()["message"])
        busy = client.delete("/api/documents/rates", headers=STAFF)
        assert busy.status_code == 409
        assert "rates" in ids(client)
    assert ended(client, accepted)["state"] == "done"
    assert "later" in ids(client)


def test_the_sample_corpus_stays_beside_an_upload(tmp_path):
    services = services_over(tmp_path)
    services.index.ingest([sample_corpus()])
    with TestClient(create_app(services)) as client:
        samples = client.get("/api/documents", headers=STAFF).json()["samples"]
        assert samples == len(list(sample_corpus().rglob("0*/*.md")))
        upload(client, {"own.md": GUIDE})
        assert client.get("/api/documents", headers=STAFF).json()["samples"] == samples
        client.delete("/api/documents/01_regulatory_sg_gst_guide", headers=STAFF)
        assert client.get("/api/documents", headers=STAFF).json()["samples"] == samples - 1


def test_what_the_page_offers_of_the_sample_corpus_is_about_the_documents_in_the_index(tmp_path):
    services = services_over(tmp_path)
    services.index.ingest([sample_corpus()])
    with TestClient(create_app(services)) as client:
        first = client.get("/").text
        upload(client, {"own.md": GUIDE})
        beside = client.get("/").text
        client.delete("/api/documents/01_regulatory_sg_gst_guide", headers=STAFF)
        without = client.get("/").text
        client.delete("/api/documents/own", headers=STAFF)
        after = client.get("/").text

    assert ["GST rate" in page for page in (first, beside, without, after)] == [True, True, False, False]
    assert ["CIF differ" in page for page in (first, beside, without, after)] == [True] * 4
    assert ["Pricing desk" in page for page in (first, beside, without, after)] == [True, False, False, True]


def test_an_upload_over_a_real_connection_streams_to_the_disk(tmp_path):
    with (
        served(create_app(services_over(tmp_path, upload_max_mb=1))) as url,
        httpx.Client(base_url=url, headers=STAFF) as client,
    ):
        accepted = client.post("/api/documents", files=[("files", ("wire.md", b"# Wire\n\nwords" + b" " * 600_000))])
        assert accepted.status_code == 202, accepted.text
        with client.stream("GET", accepted.json()["events"]) as events:
            assert "event: end" in list(events.iter_lines())
        too_large = client.post("/api/documents", files=[("files", ("large.md", b"x" * 3 * 2**20))])
        assert too_large.status_code == 413
        assert "1 MB" in too_large.json()["message"]


def test_of_uploads_with_one_name_at_once_one_is_added_and_the_others_are_told(tmp_path):
    services = services_over(tmp_path)
    with TestClient(create_app(services)) as client:
        texts = {number: f"# Same\n\nWords of {number}." for number in range(16)}
        with ThreadPoolExecutor(16) as threads:
            sent = dict(
                zip(texts, threads.map(lambda text: send(client, {"same.md": text}), texts.values()), strict=True)
            )
        assert Counter(one.status_code for one in sent.values()) == {202: 1, 409: 15}
        (added,) = (number for number, one in sent.items() if one.status_code == 202)
        assert ended(client, sent[added])["report"]["problems"] == []
        assert (services.uploads.folder / "internal" / "uploaded" / "same.md").read_text() == texts[added]


def test_a_file_that_came_while_an_upload_waited_is_not_lost(tmp_path):
    services = services_over(tmp_path)
    with TestClient(create_app(services)) as client:
        with services.index.stored.locked():
            accepted = send(client, {"late.md": "# Late\n\nWords."})
            file = services.uploads.folder / "internal" / "uploaded" / "late.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("# Late\n\nThe words that were there first.")
        problems = ended(client, accepted)["report"]["problems"]
    assert [one["path"] for one in problems] == ["late.md"]
    assert "exists" in problems[0]["reason"]
    assert "there first" in file.read_text()


def test_more_uploads_than_may_wait_are_refused_and_one_thread_adds_them_all(tmp_path, monkeypatch):
    monkeypatch.setattr("app.wings.uploads.uploads.MOST_WAITING", 5)
    services = services_over(tmp_path)
    with served(create_app(services)) as url, httpx.Client(base_url=url, headers=STAFF) as client:
        before = threading.active_count()

        def add(number: int) -> httpx.Response:
            return client.post("/api/documents", files=[("files", (f"{number}.md", f"# {number}\n\nWords.".encode()))])

        with services.index.stored.locked():
            sent = [add(number) for number in range(30)]
            assert threading.active_count() <= before + 20  # Those of the pools, of which there is a fixed number.
            assert [thread.name for thread in threading.enumerate()].count("uploads") == 1
        accepted = [one for one in sent if one.status_code == 202]
        refused = [one for one in sent if one.status_code == 429]
        assert (len(accepted), len(refused)) == (5, 25)
        assert {one.headers["Retry-After"] for one in refused} == {"10"}
        for one in accepted:
            with client.stream("GET", one.json()["events"]) as events:
                assert "event: end" in list(events.iter_lines())
        assert add(99).status_code == 202


def test_all_uploads_together_take_no_more_of_the_disk_than_they_may(tmp_path):
    services = services_over(tmp_path, upload_quota_mb=1)
    with TestClient(create_app(services)) as client:
        large = "words" + " " * 700_000  # One chunk: the disk is meant, and not the index.
        upload(client, {"first.txt": large})
        refused = send(client, {"second.txt": large})
        assert refused.status_code == 507
        assert "Remove some" in refused.json()["message"]
        assert list(services.uploads.places.waiting.iterdir()) == []
        assert upload(client, {"small.txt": "words"})["report"]["problems"] == []


def test_what_a_killed_process_left_before_it_made_a_job_is_deleted(tmp_path):
    services = services_over(tmp_path)
    left = services.uploads.places.waiting / "0"
    left.mkdir(parents=True)
    services.uploads.resume()
    assert left.exists()  # It may be another process's, at this moment.
    os.utime(left, (0, 0))
    services.uploads.resume()
    assert not left.exists()


def test_uploads_and_the_index_are_for_their_owner_alone(tmp_path):
    services = services_over(tmp_path / "new")
    with TestClient(create_app(services)) as client:
        upload(client, {"private.md": "# Private\n\nWords."})
        upload(client, {"private.md": "# Private\n\nOther words."}, replace="true")
    made = list((tmp_path / "new").rglob("*"))
    databases = [path for path in made if path.suffix in {".md", ".json"} or path.suffix.startswith(".sqlite3")]
    folders = [path for path in made if path.is_dir()]
    assert {"private.md", "waypoint_kb.ledger.sqlite3", "chroma.sqlite3"} <= {path.name for path in databases}
    # Chroma makes a folder below those of the index itself.
    assert [path.name for path in folders if path.stat().st_mode & 0o077 and path.parent.stat().st_mode & 0o077] == []
    assert [path.name for path in databases if path.stat().st_mode & 0o077] == []


def test_the_words_of_a_replaced_document_do_not_stay_in_the_index_of_words(tmp_path):
    services = services_over(tmp_path)
    with TestClient(create_app(services)) as client:
        upload(client, {"forgotten.md": "# Rate\n\nThe tangerine zarquonfee is 41 dollars."})
        upload(client, {"forgotten.md": "# Rate\n\nThe fee is 42 dollars."}, replace="true")
    files = list(tmp_path.rglob("*.ledger.sqlite3*"))
    held = b"".join(file.read_bytes() for file in files)
    assert b"42 dollars" in held
    assert b"zarquonfe" not in held
    assert b"tangerine" not in held
