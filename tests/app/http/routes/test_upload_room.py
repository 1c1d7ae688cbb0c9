"""Many uploads at once: none is lost without a word, and what they take of threads, places and disk is bounded."""

import os
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
from fastapi.testclient import TestClient

from app.http.server import create_app
from tests.served import served
from tests.uploads import STAFF, ended, send, services_over, upload


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
