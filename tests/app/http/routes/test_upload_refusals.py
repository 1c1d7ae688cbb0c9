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
