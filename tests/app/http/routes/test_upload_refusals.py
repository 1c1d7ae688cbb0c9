"""Documents that are not added over HTTP, or not shown to everybody: what is refused, and what it leaves behind."""

import pytest
from fastapi.testclient import TestClient

from app.http.server import create_app
from benchmarks.documents import pdf
from tests.uploads import ADDER, PUBLIC, STAFF, ended, ids, send, services_over, upload, upload_client, upload_services

services = pytest.fixture(upload_services, scope="module")
client = pytest.fixture(upload_client, scope="module")


def test_a_file_that_cannot_be_read_is_named_and_not_left_behind(client, services):
    end = upload(client, {"good.md": "# Good\n\nGood words.", "bad.pdf": b"no pdf", "void.txt": ""})
    assert end["state"] == "done"
    assert {one["path"] for one in end["report"]["problems"]} == {"bad.pdf", "void.txt"}
    assert all(one["reason"] for one in end["report"]["problems"])
    folder = services.uploads.folder / "internal" / "uploaded"
    assert not (folder / "bad.pdf").exists()
    assert not (folder / "void.txt").exists()
    assert (folder / "good.md").exists()
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
    accepted = send(client, {"scope.md": "# Scope\n\nWords."}, ADDER, audience="public")
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


def test_a_body_that_is_no_form_is_refused(client):
    assert client.post("/api/documents", json={"files": []}, headers=STAFF).status_code == 400
    broken = client.post("/api/documents", content=b"x", headers=STAFF | {"content-type": "multipart/form-data"})
    assert broken.status_code == 400
    assert send(client, {"a.md": "x"}, category="../..").status_code == 400


def test_an_upload_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    services = services_over(tmp_path)
    monkeypatch.setattr(type(services.index.ingestion), "add", lambda *_, **__: 1 / 0)
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


def test_a_refused_method_is_told_what_the_path_allows(client):
    refused = client.put("/api/documents", headers=STAFF)
    assert refused.status_code == 405
    assert refused.headers["allow"] == "GET, POST"


GUARDED = "# Plans\n\nThe plan is in confidence."
OPEN = "# Plans\n\nThe plan is known to all."


def listed(client: TestClient, title: str) -> list[tuple[str, str]]:
    found = client.get("/api/documents", params={"search": title}, headers=STAFF).json()["documents"]
    return [(one["category"], one["audience"]) for one in found]


@pytest.mark.parametrize("category", ["", "regulatory", "internal"])
def test_a_document_without_a_chosen_audience_is_for_the_staff(client, category):
    end = upload(client, {f"unsaid{category}.md": f"# Unsaid{category}\n\nWords."}, category=category)
    assert end["report"]["audience"] == "internal"
    assert listed(client, f"Unsaid{category}")[-1] == (category or "uploaded", "internal")
    assert not [one for one in ids(client, PUBLIC) if "unsaid" in one]


def test_a_document_is_public_where_the_uploader_says_so(client):
    end = upload(client, {"spoken.md": "# Spoken\n\nWords."}, category="carrier", audience="public")
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
    limits = client.get("/api/documents", headers=ADDER).json()["upload"]
    assert limits["audiences"] == ["public"]
    assert client.get("/api/documents", headers=STAFF).json()["upload"]["audiences"] == ["internal", "public"]


def test_a_category_of_the_staff_is_not_for_everybody(client):
    refused = send(client, {"both.md": OPEN}, STAFF, category="internal", audience="public")
    assert refused.status_code == 400
    assert send(client, {"both.md": OPEN}, STAFF, audience="directors").status_code == 400


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


def test_a_name_of_a_public_document_is_told(client):
    ended(client, send(client, {"known.md": OPEN}, ADDER, audience="public"))
    refused = send(client, {"known.md": OPEN}, ADDER, audience="public")
    assert refused.status_code == 409
    assert "'known.md'" in refused.json()["message"]


def test_an_internal_document_in_a_public_place_is_not_replaced(client, services):
    """An earlier version kept a file there that says itself that it is internal."""
    file = services.uploads.folder / "carrier" / "old.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("---\naudience: internal\n---\n\n# Old\n\nOld words.")
    services.index.ingest([file])
    end = ended(client, send(client, {"old.md": OPEN}, ADDER, category="carrier", audience="public", replace="true"))
    assert [one["path"] for one in end["report"]["problems"]] == ["old.md"]
    assert "Old words" in file.read_text()
