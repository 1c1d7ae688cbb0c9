"""Which document a file is: ids, folders of the same name, moves and deletions, on real stores."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from tempfile import gettempdir

import pytest

from chains.errors import IngestionError
from chains.ingestion.files import Problem
from tests.shelf import Shelf


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


def test_what_vanished_from_one_of_two_folders_of_the_same_name_leaves_the_other_alone(shelf, tmp_path):
    sales, legal = write_terms(tmp_path, "sales"), write_terms(tmp_path, "legal")
    shelf.ingest(sales, legal)
    (sales / "terms.md").unlink()

    assert shelf.ingest(sales).deleted == 1
    assert texts(shelf) == {"docs_terms": "The terms of legal."}


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


def test_a_file_that_is_left_out_now_leaves_the_index(shelf):
    shelf.write("02_carriers/line.md", "Sails weekly.")
    shelf.ingest()
    shelf.write(".waypointignore", "02_carriers/")
    assert shelf.ingest().deleted == 1


def test_what_was_ingested_by_name_from_a_hidden_folder_stays_when_the_folder_above_is_ingested(shelf, tmp_path):
    hidden = shelf.write(".private/note.md", "A note.")
    shelf.ingest(hidden)
    assert shelf.ingest().deleted == 0
    assert "note" in texts(shelf)


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
