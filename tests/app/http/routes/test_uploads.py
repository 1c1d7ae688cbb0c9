"""Documents that are added and removed over HTTP: jobs, and what answers make of it."""

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
