"""Uploads whose process was killed."""

import pytest

from app.wings.uploads.jobs import safe_name
from tests.corpora import write_documents
from tests.ingest_and_stop import make_services, upload_and_stop
from tests.processes import start
from tests.waiting import wait_until


@pytest.mark.parametrize("point", ["embedding", "staged", "added", "version stated", "committed"])
def test_an_upload_whose_process_was_killed_is_finished_by_the_next_one(tmp_path, point):
    first = write_documents(tmp_path / "docs", {"first.md": "# First\n\nFirst words."})
    make_services(tmp_path, min_chunks=0).index.ingest([first])
    (tmp_path / "second.md").write_text("# Second\n\nSecond words.")
    process = start(upload_and_stop, tmp_path, "second.md", point=point)
    wait_until((tmp_path / "stopped").exists)
    process.kill()
    process.join()

    services = make_services(tmp_path, min_chunks=0)
    (job,) = services.uploads.jobs.unfinished()
    services.uploads.resume()
    wait_until(lambda: (services.uploads.job(job.job_id) or job).is_over)

    finished = services.uploads.job(job.job_id)
    assert finished
    assert finished.report
    assert (finished.state, finished.message) == ("done", "")
    assert finished.report.problems == []
    assert set(services.index.library.catalogue().entries) == {"first", "second"}
    assert (services.uploads.folder / "internal" / "uploaded" / "second.md").exists()


def test_a_job_that_ends_its_process_each_time_is_given_up(tmp_path):
    services = make_services(tmp_path)
    (tmp_path / "a.md").write_text("# A\n\nWords.")
    services.uploads.close()  # Nothing runs: the state is that of a process that was killed for the third time.
    with (tmp_path / "a.md").open("rb") as file:
        job = services.uploads.accept([("a.md", file)], "")
    services.uploads.jobs.write(job.but(attempts=3, state="running"))
    after = make_services(tmp_path)
    after.uploads.resume()
    wait_until(lambda: (after.uploads.job(job.job_id) or job).is_over)
    given_up = after.uploads.job(job.job_id)
    assert given_up
    assert given_up.state == "failed"
    assert not after.index.library.catalogue().entries


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/passwd.md", "passwd.md"),
        ("C:\\Users\\x\\plan.PDF", "plan.pdf"),
        ("a\x00b\x1b[31m\u202egnp.md", "ab[31mgnp.md"),
        (" .. hidden.md", "hidden.md"),
        ('a<b>:"|?*.md', "a_b______.md"),
        ("con.md", "_con.md"),
        ("LPT1.tar.md", "_LPT1.tar.md"),
        ("Gebühr  e\u0301.md", "Gebühr é.md"),
        ("x" * 500 + ".md", "x" * 180 + ".md"),
        ("\ud800é.md", "é.md"),
    ],
)
def test_a_hostile_name_is_made_safe(given, kept):
    assert safe_name(given, {".md", ".pdf"}) == kept


@pytest.mark.parametrize(
    "given", ["", ".", "..", "/", "a", "a.exe", "a.md/", ".md", "readme.md", "a.md\x00.exe", "…md"]
)
def test_a_name_without_a_use_is_refused(given):
    with pytest.raises(ValueError, match=r"name|cannot be read"):
        safe_name(given, {".md"})
