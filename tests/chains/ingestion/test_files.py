"""Which files are read, and which document each is."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from tempfile import gettempdir

import pytest

from chains.errors import IngestionError
from chains.ingestion.files import Problem, find_files
from tests.shelf import Shelf


@pytest.fixture
def corpus(tmp_path):
    for name in ("01_regulatory/gst.md", "drafts/gst.md", "drafts/kept.md", "02_carriers/line.txt", "02_carriers/x.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("words")
    return tmp_path


def found(corpus) -> list[str]:
    return [file.relative for file in find_files([corpus], {".md", ".txt"}).files]


def test_what_a_waypointignore_matches_is_skipped_with_the_line_that_matched(corpus):
    (corpus / ".waypointignore").write_text("# no knowledge yet\n\ndrafts/*\n!drafts/kept.md\n*.txt\n")

    assert found(corpus) == ["01_regulatory/gst.md", "02_carriers/x.md", "drafts/kept.md"]
    assert [(skipped.path, skipped.reason) for skipped in find_files([corpus], {".md", ".txt"}).skipped] == [
        (".waypointignore", "hidden"),
        ("02_carriers/line.txt", "'*.txt' in .waypointignore"),
        ("drafts/gst.md", "'drafts/*' in .waypointignore"),
    ]


def test_a_leading_slash_means_the_top_of_the_corpus(corpus):
    (corpus / ".waypointignore").write_text("/gst.md\n/drafts\n")
    assert found(corpus) == ["01_regulatory/gst.md", "02_carriers/line.txt", "02_carriers/x.md"]


def test_a_waypointignore_below_the_top_says_nothing_and_a_file_given_by_name_is_taken(corpus):
    (corpus / "drafts" / ".waypointignore").write_text("*\n")
    assert "drafts/gst.md" in found(corpus)
    assert [file.relative for file in find_files([corpus / "drafts" / "gst.md"], {".md"}).files] == ["gst.md"]


@pytest.mark.parametrize("content", [b"\xff\xfe", b"drafts/\n!\n", b"*a*a*a*a*a*b\n"])
def test_a_waypointignore_that_cannot_be_read_stops_the_run(corpus, content):
    (corpus / ".waypointignore").write_bytes(content)
    with pytest.raises(IngestionError, match=r"^\.waypointignore in .* cannot be read"):
        find_files([corpus], {".md"})


def reasons(corpus) -> dict[str, str]:
    return {problem.path: problem.reason for problem in find_files([corpus], {".md", ".txt"}).skipped}


def test_links_to_hidden_files_of_the_folder_are_followed_and_no_others(corpus, tmp_path_factory):
    """Kubernetes mounts the files of a ConfigMap behind a hidden folder."""
    outside = tmp_path_factory.mktemp("outside") / "secret.md"
    outside.write_text("words")
    (corpus / "drafts" / "out.md").symlink_to(outside)
    (corpus / "elsewhere").symlink_to(outside.parent)
    (corpus / "elsewhere.md").symlink_to(corpus / "drafts")
    (corpus / "loop.md").symlink_to(corpus / "loop.md")
    (corpus / "drafts" / "up").symlink_to(corpus)
    (corpus / "again.md").symlink_to("drafts/gst.md")
    before = found(corpus)
    (corpus / "..data").mkdir()
    (corpus / "..data" / "mounted.md").write_text("words")
    (corpus / "mounted.md").symlink_to("..data/mounted.md")

    assert set(found(corpus)) - set(before) == {"mounted.md"}
    assert not [
        name for name in before if name.rpartition("/")[2] in {"out.md", "secret.md", "elsewhere.md", "again.md"}
    ]
    assert reasons(corpus) == {
        "..data": "hidden",
        "again.md": "a symbolic link to 'drafts/gst.md'",
        "drafts/out.md": "a symbolic link out of the folder is not followed",
        "drafts/up": "no loader reads files without an ending",
        "elsewhere": "no loader reads files without an ending",
        "elsewhere.md": "a symbolic link is followed to regular files only",
        "loop.md": "a symbolic link that leads nowhere",
    }


def test_what_is_no_regular_file_is_left_out_and_refused_by_name(corpus, monkeypatch):
    pipe = corpus / "pipe.md"
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(corpus)  # A socket's path may not be longer than 107 bytes.
        listener.bind("socket.md")
        assert reasons(corpus) == dict.fromkeys(["pipe.md", "socket.md"], "it is not a regular file")
    with pytest.raises(IngestionError, match="neither a file nor a folder"):
        find_files([pipe], {".md"})


def test_a_name_that_is_not_utf_8_is_a_problem_and_the_rest_goes_on(corpus):
    (corpus / os.fsdecode(b"caf\xe9.md")).write_text("words")
    (corpus / os.fsdecode(b"dossier\xe9")).mkdir()
    result = find_files([corpus], {".md", ".txt"})

    assert len(result.files) == 5
    assert [(problem.path, problem.reason) for problem in result.problems] == [
        ("caf\\udce9.md", "its name is not UTF-8; rename it"),
        ("dossier\\udce9", "its name is not UTF-8; rename it"),
    ]
    with pytest.raises(IngestionError, match=r"cannot be read"):
        find_files([corpus / os.fsdecode(b"dossier\xe9")], {".md"})


@pytest.mark.parametrize("name", ["x" * 300, "~no-such-user/x", "loop"])
def test_a_path_that_cannot_be_followed_is_an_error_in_words(corpus, name):
    (corpus / "loop").symlink_to("loop")
    with pytest.raises(IngestionError):
        find_files([Path(name) if name.startswith("~") else corpus / name], {".md"})


def test_a_very_deep_tree_is_searched_until_its_paths_are_too_long(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(25):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
    result = find_files([tmp_path], {".md"})

    assert [problem.reason for problem in result.problems] == [
        "the folder cannot be read: File name too long; its documents stay"
    ]
    assert len(result.unlisted) == 1


def test_an_id_is_relative_to_what_was_given(corpus):
    (corpus / "top.v2.md").write_text("words")
    ids = [file.doc_id for file in find_files([corpus], {".md"}).files]
    assert ids == ["01_regulatory_gst", "02_carriers_x", "drafts_gst", "drafts_kept", "top.v2"]
    assert [file.doc_id for file in find_files([corpus / "drafts"], {".md"}).files] == ["gst", "kept"]


@pytest.fixture
def shelf(tmp_path) -> Shelf:
    return Shelf(tmp_path)


def texts(shelf: Shelf) -> dict[str, str]:
    return {chunk["doc_id"]: chunk["text"] for chunk in shelf.metadata()}


def write_terms(folder: Path, name: str) -> Path:
    path = folder / name / "docs" / "terms.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"The terms of {name}.")
    return path.parent


def test_folders_of_the_same_name_do_not_overwrite_each_other(shelf, tmp_path):
    sales, legal, desk = (write_terms(tmp_path, name) for name in ("sales", "legal", "desk"))
    assert shelf.ingest(sales).warnings == []
    [warning] = shelf.ingest(legal).warnings
    shelf.ingest(desk)

    assert texts(shelf) == {
        "terms": "The terms of sales.",
        "docs_terms": "The terms of legal.",
        "desk_docs_terms": "The terms of desk.",
    }
    assert warning.path == "terms.md"
    assert warning.reason.endswith("/sales/docs/terms.md'; this document is 'docs_terms'")
    assert shelf.ingest(legal, sales, desk).unchanged == 3
    (sales / "terms.md").unlink()
    assert shelf.ingest(sales).deleted == 1
    assert texts(shelf).keys() == {"docs_terms", "desk_docs_terms"}


@pytest.mark.parametrize("later", ["corpus/01_regulatory", "corpus/01_regulatory/gst.md", "."])
def test_a_document_keeps_its_id_whichever_folder_of_its_path_is_ingested_later(shelf, tmp_path, later):
    shelf.ingest()
    report = shelf.ingest(tmp_path / later)

    assert (report.added, report.updated, report.deleted, report.unchanged) == (0, 0, 0, 3)
    assert set(texts(shelf)) == {"01_regulatory_gst"}


def test_ids_are_the_same_wherever_the_corpus_lies(shelf, tmp_path):
    shelf.write("top.md", "Words at the top.")
    shelf.ingest()
    before = set(texts(shelf))
    shelf.corpus = shelf.corpus.rename(tmp_path / "moved")
    report = shelf.ingest()

    assert before == set(texts(shelf)) == {"top", "01_regulatory_gst"}
    [warning] = report.warnings
    assert warning.reason == f"documents of this folder take the place of those of '{tmp_path}/corpus', which are gone"
    assert shelf.ingest().warnings == []


@pytest.mark.parametrize("given", ["notes", ".", "notes/one.md"])
def test_a_file_that_was_ingested_by_name_and_deleted_leaves_the_index(shelf, tmp_path, given):
    note = tmp_path / "notes" / "one.md"
    note.parent.mkdir()
    note.write_text("One.")
    shelf.ingest(note)
    note.unlink()

    assert shelf.ingest(tmp_path / given, dry_run=True).deleted == 1
    assert shelf.ingest(tmp_path / given).deleted == 1
    assert "one" not in texts(shelf)


def test_a_folder_that_is_gone_is_an_error_and_its_documents_stay(shelf, tmp_path):
    """It may be a disk that is not mounted. The folder above it, ingested, removes what was in it."""
    shelf.ingest()
    shelf.corpus.rename(tmp_path.parent / f"{tmp_path.name}-away")
    for path in (shelf.corpus, shelf.corpus / "01_regulatory/gst.md"):
        with pytest.raises(IngestionError, match="does not exist"):
            shelf.ingest(path)
    assert shelf.store.count() == 3
    assert shelf.ingest(tmp_path).deleted == 3


def test_a_file_that_is_left_out_now_leaves_and_one_ingested_by_name_from_a_hidden_folder_stays(shelf):
    shelf.write("02_carriers/line.md", "Sails weekly.")
    shelf.ingest()
    shelf.ingest(shelf.write(".private/note.md", "A note."))
    shelf.write(".waypointignore", "02_carriers/")
    assert shelf.ingest().deleted == 1
    assert set(texts(shelf)) == {"01_regulatory_gst", "note"}


@contextmanager
def somebody_else(folder: Path) -> Iterator[None]:
    """Give the folder to a user who is bound by permissions, and be that user; root is not bound."""
    if os.getuid():
        yield
        return
    subprocess.run(["chown", "-R", "65534", folder], check=True)
    for above in takewhile(lambda parent: parent != Path(gettempdir()), folder.parents[:-1]):
        above.chmod(0o755)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_an_unreadable_folder_is_a_problem_and_what_the_index_holds_of_it_stays(shelf, tmp_path):
    shelf.write("02_carriers/line.md", "Sails weekly.")
    shelf.ingest()
    (shelf.corpus / "02_carriers").chmod(0)
    with somebody_else(tmp_path):
        report = shelf.ingest()

    assert report.problems == [
        Problem("02_carriers", "the folder cannot be read: Permission denied; its documents stay")
    ]
    assert (report.deleted, shelf.store.count()) == (0, 4)
