"""Documents that are added and removed over HTTP: jobs, and what answers make of it."""

import os
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from app.http.server import create_app
from app.wiring import Service, sample_corpus
from benchmarks.documents import pdf
from tests.corpora import write_documents
from tests.office_documents import eml, epub, pptx, xlsx
from tests.served import served
from tests.uploads import ADDER, GUIDE, PUBLIC, STAFF, ended, ids, send, services_over, upload
from tests.waiting import wait_until

QUESTION = {"query": "What is the fee for a tarpaulin in the depot?", "threshold": 0}


@pytest.fixture(scope="module")
def services(tmp_path_factory) -> Service:
    """Services over a public and an internal document."""
    folder = tmp_path_factory.mktemp("uploads")
    documents = {
        "rates.md": "# Rates\n\nThe rate of a crane is 7 dollars.",
        "internal/margin.md": "# Margin\n\nThe margin is 3 %.",
    }
    services = services_over(folder, cache_enabled=True)
    services.index.ingest([write_documents(folder / "docs", documents)])
    return services


@pytest.fixture(scope="module")
def client(services) -> Iterator[TestClient]:
    with TestClient(create_app(services)) as client:
        yield client


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


FORMATS: dict[str, tuple[bytes, str, int | None]] = {
    "slides.pptx": (pptx(("Cover", "Words"), ("Fee", "The winch costs 9.")), "The winch costs 9.", 2),
    "sheet.xlsx": (xlsx({"Fees": [["Thing", "Fee"], ["Winch", 9]]}), "| Winch | 9 |", None),
    "values.csv": (b"Thing,Fee\nWinch,9\n", "| Winch | 9 |", None),
    "mail.eml": (eml("The winch costs 9.", Subject="Fee of a winch"), "The winch costs 9.", None),
    "book.epub": (epub("<h1>Fees</h1><p>The winch costs 9."), "The winch costs 9.", None),
    "lines.jsonl": (b'{"title": "Winch", "text": "The winch costs 9."}', "The winch costs 9.", None),
}


def test_every_format_is_added_and_shown_with_the_quoted_words_marked(client):
    assert upload(client, {name: content for name, (content, _, _) in FORMATS.items()})["report"]["problems"] == []
    for name, (_, quote, page) in FORMATS.items():
        shown = client.get(f"/documents/{name.partition('.')[0]}", params={"quote": quote}, headers=STAFF).json()
        assert (name, shown["marked"], shown["page"]) == (name, True, page)
        assert "<mark" in shown["html"]


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


def test_the_sample_corpus_stays_beside_an_upload_and_the_page_offers_what_is_about_the_documents_in_the_index(
    tmp_path,
):
    services = services_over(tmp_path)
    services.index.ingest([sample_corpus()])
    with TestClient(create_app(services)) as client:
        pages, samples = [], []

        def look() -> None:
            pages.append(client.get("/").text)
            samples.append(client.get("/api/documents", headers=STAFF).json()["samples"])

        look()
        upload(client, {"own.md": GUIDE})
        look()
        client.delete("/api/documents/01_regulatory_sg_gst_guide", headers=STAFF)
        look()
        client.delete("/api/documents/own", headers=STAFF)
        look()

    every = len(list(sample_corpus().rglob("0*/*.md")))
    assert samples == [every, every, every - 1, every - 1]
    assert ["GST rate" in page for page in pages] == [True, True, False, False]
    assert ["CIF differ" in page for page in pages] == [True] * 4
    assert ["Pricing desk" in page for page in pages] == [True, False, False, True]


def test_an_upload_over_a_real_connection_streams_to_the_disk(tmp_path):
    with (
        served(create_app(services_over(tmp_path))) as url,
        httpx.Client(base_url=url, headers=STAFF) as client,
    ):
        accepted = client.post("/api/documents", files=[("files", ("wire.md", b"# Wire\n\nwords" + b" " * 600_000))])
        assert accepted.status_code == 202, accepted.text
        with client.stream("GET", accepted.json()["events"]) as events:
            assert "event: end" in list(events.iter_lines())
        too_large = client.post("/api/documents", files=[("files", ("large.md", b"x" * 51 * 2**20))])
        assert too_large.status_code == 413
        assert "50 MB" in too_large.json()["message"]


def test_of_uploads_with_one_name_at_once_one_is_added_and_the_others_are_told(client, services):
    texts = {number: f"# Twin\n\nWords of {number}." for number in range(16)}
    with ThreadPoolExecutor(16) as threads:
        answers = threads.map(lambda text: send(client, {"twin.md": text}), texts.values())
        sent = dict(zip(texts, answers, strict=True))
    assert Counter(one.status_code for one in sent.values()) == {202: 1, 409: 15}
    (added,) = (number for number, one in sent.items() if one.status_code == 202)
    assert ended(client, sent[added])["report"]["problems"] == []
    assert (services.uploads.folder / "internal" / "uploaded" / "twin.md").read_text() == texts[added]


def test_a_file_that_came_while_an_upload_waited_is_not_lost(client, services):
    with services.index.stored.locked():
        accepted = send(client, {"late.md": "# Late\n\nWords."})
        file = services.uploads.folder / "internal" / "uploaded" / "late.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("# Late\n\nThe words that were there first.")
    [problem] = ended(client, accepted)["report"]["problems"]
    assert problem["path"] == "late.md"
    assert "exists" in problem["reason"]
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


def test_what_a_killed_process_left_before_it_made_a_job_is_deleted(services):
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


def test_a_file_that_cannot_be_read_is_named_counted_and_not_left_behind(client, services):
    def counted() -> dict[str, float]:
        families = text_string_to_metric_families(services.metrics.text().decode())
        samples = [sample for family in families for sample in family.samples]
        return {one.labels["result"]: one.value for one in samples if one.name == "waypoint_uploaded_files_total"}

    before = counted()
    end = upload(client, {"good.md": "# Good\n\nGood words.", "bad.pdf": b"no pdf", "void.txt": ""})
    after = counted()
    assert {result: after[result] - before[result] for result in after} == {"added": 1, "failed": 2}
    assert end["state"] == "done"
    assert {one["path"] for one in end["report"]["problems"]} == {"bad.pdf", "void.txt"}
    assert all(one["reason"] for one in end["report"]["problems"])
    kept = services.uploads.folder / "internal" / "uploaded"
    assert [name for name in ("bad.pdf", "void.txt", "good.md") if (kept / name).exists()] == ["good.md"]
    assert "good" in ids(client)


def test_a_replacement_that_cannot_be_read_leaves_the_older_one(client, services):
    upload(client, {"older.pdf": pdf("The older page")})
    end = upload(client, {"older.pdf": b"broken"}, replace="true")
    assert [one["path"] for one in end["report"]["problems"]] == ["older.pdf"]
    assert end["report"]["replaced"] == []
    assert "The older page" in client.get("/documents/older", headers=STAFF).json()["html"]
    assert (services.uploads.folder / "internal" / "uploaded" / "older.pdf").read_bytes() == pdf("The older page")
    assert client.get("/documents/older/pages/1.png", headers=STAFF).status_code == 200


def test_an_internal_document_is_internal_wherever_it_comes_from(client):
    upload(client, {"secret.md": "# Secret\n\nThe word is satsuma."}, category="internal")
    assert "secret" in ids(client)
    assert "secret" not in ids(client, PUBLIC)
    assert client.get("/documents/secret", headers=PUBLIC).status_code == 404
    forbidden = client.delete("/api/documents/secret", headers=ADDER)
    missing = client.delete("/api/documents/nothing", headers=ADDER)
    assert forbidden.status_code == missing.status_code == 404
    assert forbidden.json() == missing.json()
    assert "secret" in ids(client)


def test_only_a_caller_with_the_scope_adds_removes_and_follows(client):
    accepted = send(client, {"scope.md": "# Scope\n\nWords."}, ADDER, audience="public")
    job = accepted.json()["events"]
    ended(client, accepted)
    assert client.get(job, headers=PUBLIC).status_code == 403
    assert send(client, {"a.md": "# A\n\nWords."}, PUBLIC).status_code == 403
    assert client.delete("/api/documents/scope", headers=PUBLIC).status_code == 403
    assert send(client, {"a.md": "# A\n\nWords."}, {}).status_code == 401
    assert client.get("/api/documents", headers=PUBLIC).json()["upload"] is None
    assert client.get("/api/documents", headers=ADDER).json()["upload"]["max_mb"] == 50


@pytest.mark.parametrize(
    ("files", "status"),
    [
        ({"a.exe": "x"}, 400),
        ({"README.md": "# A"}, 400),
        ({".md": "# A"}, 400),
        ({"a.md": "x", "A.md": "y"}, 400),
        ({"large.md": "x" * 50 * 2**20}, 413),
        ({f"{number}.md": "x" for number in range(21)}, 400),
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


def test_an_upload_that_fails_leaves_nothing_behind(client, services, monkeypatch):
    monkeypatch.setattr(type(services.index), "add", lambda *_, **__: 1 / 0)
    end = upload(client, {"a.md": "# A\n\nWords."})
    assert end["state"] == "failed"
    assert "not added" in end["message"]
    assert end["report"] is None
    assert not list(services.uploads.folder.rglob("a.md"))


def test_what_is_no_form_no_job_or_no_method_is_told_so(client):
    assert client.post("/api/documents", json={"files": []}, headers=STAFF).status_code == 400
    broken = client.post("/api/documents", content=b"x", headers=STAFF | {"content-type": "multipart/form-data"})
    assert broken.status_code == 400
    assert send(client, {"a.md": "x"}, category="../..").status_code == 400

    unknown = "0b6d7c0e-3f0a-4c39-9a43-9c7a1c1f7f3e"
    assert client.get(f"/api/jobs/{unknown}", headers=STAFF).status_code == 404
    assert client.get(f"/api/jobs/{unknown}/events", headers=STAFF).status_code == 404
    assert client.get("/api/jobs/..%2f..%2fsecret", headers=STAFF).status_code in {404, 422}
    refused = client.put("/api/documents", headers=STAFF)
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, POST")


GUARDED = "# Plans\n\nThe plan is in confidence."
OPEN = "# Plans\n\nThe plan is known to all."


def listed(client: TestClient, title: str) -> list[tuple[str, str]]:
    found = client.get("/api/documents", params={"search": title}, headers=STAFF).json()["documents"]
    return [(one["category"], one["audience"]) for one in found]


@pytest.mark.parametrize("category", ["", "regulatory", "internal"])
def test_a_document_is_for_the_staff_unless_the_uploader_says_that_it_is_public(client, category):
    end = upload(client, {f"unsaid{category}.md": f"# Unsaid{category}\n\nWords."}, category=category)
    assert end["report"]["audience"] == "internal"
    assert listed(client, f"Unsaid{category}")[-1] == (category or "uploaded", "internal")
    assert not [one for one in ids(client, PUBLIC) if "unsaid" in one]

    end = upload(client, {"spoken.md": "# Spoken\n\nWords."}, category="carrier", audience="public", replace="true")
    assert end["report"]["audience"] == "public"
    assert listed(client, "Spoken") == [("carrier", "public")]
    assert "spoken" in ids(client, PUBLIC)


def test_the_chosen_category_wins_over_the_files_own(client):
    text = "---\ntitle: Chosen\ncategory: regulatory\n---\n\n# Chosen\n\nWords."
    upload(client, {"chosen.md": text}, category="carrier")
    assert listed(client, "Chosen") == [("carrier", "internal")]
    upload(client, {"own.md": text.replace("Chosen", "Stated")})
    assert listed(client, "Stated") == [("regulatory", "internal")]


def test_a_file_that_says_that_it_is_internal_is_not_added_for_everybody(client, services):
    text = "---\ntitle: Guarded\naudience: internal\n---\n\n# Guarded\n\nWords."
    end = upload(client, {"guarded.md": text}, audience="public")
    assert "internal" in end["report"]["problems"][0]["reason"]
    assert listed(client, "Guarded") == []
    assert not list(services.uploads.folder.rglob("guarded.md"))


def test_a_caller_who_does_not_see_internal_documents_adds_public_ones_only(client):
    for fields in ({}, {"audience": "internal"}, {"category": "internal"}, {"replace": "true"}):
        refused = send(client, {"mine.md": OPEN}, ADDER, **fields)
        assert refused.status_code == 403
        assert "ask:internal" in refused.json()["message"]
    for category, audience in (("internal", "public"), ("", "directors")):  # The staff may not mix them, either.
        assert send(client, {"both.md": OPEN}, STAFF, category=category, audience=audience).status_code == 400
    limits = client.get("/api/documents", headers=ADDER).json()["upload"]
    assert limits["audiences"] == ["public"]
    assert client.get("/api/documents", headers=STAFF).json()["upload"]["audiences"] == ["internal", "public"]


@pytest.mark.parametrize("category", ["", "regulatory"])
def test_a_name_of_an_internal_document_is_neither_told_nor_taken(client, category):
    name, stem = f"plans{category}.md", f"plans{category}"
    upload(client, {name: GUARDED}, category=category)
    fields = {"category": category, "audience": "public"}
    added = ended(client, send(client, {name: OPEN}, ADDER, **fields))["report"]
    replaced = ended(client, send(client, {name: OPEN}, ADDER, replace="true", **fields))["report"]
    assert "confidence" in client.get(f"/documents/{stem}", headers=STAFF).json()["html"]
    assert (added["problems"], added["warnings"], added["replaced"]) == ([], [], [])
    assert replaced["replaced"] == [name]
    # With no document of that name the id has the same form.
    free = f"free{category}.md"
    ended(client, send(client, {free: OPEN}, ADDER, **fields))
    mine = {one for one in ids(client, ADDER) if one.endswith((stem, free.removesuffix(".md")))}
    assert len({one.removesuffix(stem).removesuffix(free.removesuffix(".md")) for one in mine}) == 1


def test_an_internal_document_in_a_public_place_is_not_replaced(client, services):
    """An earlier version kept a file there that says itself that it is internal."""
    file = services.uploads.folder / "carrier" / "old.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("---\naudience: internal\n---\n\n# Old\n\nOld words.")
    services.index.ingest([file])
    end = ended(client, send(client, {"old.md": OPEN}, ADDER, category="carrier", audience="public", replace="true"))
    assert [one["path"] for one in end["report"]["problems"]] == ["old.md"]
    assert "Old words" in file.read_text()
