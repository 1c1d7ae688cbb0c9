import json

import pytest

from benchmarks.documents import pdf
from chains.errors import IngestionError
from chains.ingestion import index
from chains.ingestion.files import Problem
from chains.ingestion.index import FileChange, Report
from tests.shelf import DOCUMENT, Shelf


@pytest.fixture
def shelf(tmp_path):
    return Shelf(tmp_path)


BOMB = [b"a0: &a0 [x, x, x, x, x, x, x, x, x, x]"] + [
    b"a%d: &a%d [%s]" % (level, level, b", ".join([b"*a%d" % (level - 1)] * 10)) for level in range(1, 9)
]


def counts(report: Report) -> tuple[int, int, int, int]:
    return report.added, report.updated, report.unchanged, report.deleted


def test_a_chunk_carries_the_metadata_of_the_contract(shelf):
    shelf.ingest()
    first, rate, exceptions = shelf.metadata()

    assert [chunk["section"] for chunk in (first, rate, exceptions)] == ["Guide: GST", "Rate", "Exceptions"]
    assert json.loads(exceptions["section_path"]) == ["Rate", "Exceptions"]
    assert json.loads(rate["source_urls"]) == ["https://example.org/a,b", "https://example.org/c_(d)"]
    kept = {name: rate[name] for name in ("doc_id", "title", "category", "file_path", "source_org", "last_updated")}
    assert kept == {
        "doc_id": "01_regulatory_gst",
        "title": "Guide: GST",
        "category": "regulatory",
        "file_path": "01_regulatory/gst.md",
        "source_org": "Customs",
        "last_updated": "2026-01-31",
    }
    assert (rate["source_type"], rate["jurisdiction"], rate["chunk_index"]) == ("public_regulatory", "SG", 1)


GST, LINE = "01_regulatory/gst.md", "02_carriers/line.md"
CHANGES = {
    "an unchanged corpus embeds nothing": (lambda shelf: None, (0, 0, 4, 0)),
    "a changed file leaves no stale chunk": (
        lambda shelf: shelf.write(GST, DOCUMENT.replace("nine", "four")),
        (0, 1, 3, 0),
    ),
    "a document that shrinks leaves no stale chunk": (
        lambda shelf: shelf.write(GST, DOCUMENT[: DOCUMENT.index("## Rate")]),
        (0, 0, 2, 2),
    ),
    "a deleted file leaves the index": (lambda shelf: (shelf.corpus / LINE).unlink(), (0, 0, 3, 1)),
}


@pytest.mark.parametrize(("change", "counted"), CHANGES.values(), ids=CHANGES)
def test_the_index_follows_the_files(shelf, change, counted):
    shelf.write(LINE, "# Line\n\nSails weekly.")
    shelf.ingest()
    embedded = shelf.embeddings.embedded
    change(shelf)

    assert counts(shelf.ingest()) == counted
    assert shelf.store.count() == sum(counted[:3])
    assert shelf.embeddings.embedded - embedded == sum(counted[:2])
    assert ("nine" in " ".join(chunk["text"] for chunk in shelf.metadata())) is (
        "nine" in (shelf.corpus / GST).read_text()
    )


def test_one_file_can_be_ingested_alone_and_another_corpus_beside_it(shelf, tmp_path):
    extra = shelf.write(LINE, "# Line\n\nSails weekly.")
    shelf.ingest()
    extra.write_text("# Line\n\nSails daily.")
    other = tmp_path / "other" / "note.md"
    other.parent.mkdir()
    other.write_text("# Note\n\nWords.")

    assert [counts(shelf.ingest(given)) for given in (extra, other.parent)] == [(0, 1, 0, 0), (1, 0, 0, 0)]
    assert shelf.store.count() == 5


@pytest.mark.untraced
def test_more_chunks_than_a_batch_of_the_indexing_api_are_neither_lost_nor_doubled(shelf):
    long = "# Long\n\n" + "\n\n".join(f"## Part {number}\n\nWords of part {number}." for number in range(250))
    shelf.write("03_reference/long.md", long)
    shelf.ingest()
    embedded = shelf.embeddings.embedded

    assert counts(shelf.ingest()) == (0, 0, 253, 0)
    shelf.write("03_reference/long.md", long.replace("Words of part 7.", "Other words."))
    assert shelf.ingest().deleted == 0
    assert shelf.store.count() == 253
    assert shelf.embeddings.embedded > embedded


def test_a_dry_run_counts_and_names_each_file_that_differs_from_the_index_and_changes_nothing(shelf):
    assert counts(shelf.ingest(dry_run=True)) == (3, 0, 0, 0)
    assert shelf.store.count() == shelf.embeddings.embedded == 0

    shelf.ingest()
    shelf.write(GST, "# GST\n\n## Rate\n\nAnother rate.\n\n## Due\n\nMonthly.\n")
    shelf.write("03_reference/new.md", "# New\n\nA word.\n")
    updated, added = (FileChange(GST, "update"), FileChange("03_reference/new.md", "add"))
    assert shelf.ingest(dry_run=True).changes == [updated, added]

    (shelf.corpus / GST).unlink()
    report = shelf.ingest(dry_run=True)
    assert (counts(report), report.changes) == ((1, 0, 0, 3), [added, FileChange(GST, "remove")])
    assert shelf.store.count() == 3


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff\x00\x00\x00\x00rubbish", "not UTF-8 text"),
        (b"# Title\n\nwords\x00words", "binary data"),
        (b"", "empty"),
        (b"---\ntitle: x\n---\n\n  \n", "empty"),
        (b"---\nx: " + b"[" * 5000 + b"\n---\n\nwords", "nested too deeply"),
        (b"---\nx: " + b"[" * 20 + b"]" * 20 + b"\n---\n\nwords", "nested too deeply"),
        (b"---\nx: &a [*a]\n---\n\nwords", "nested too deeply"),
        (b"---\nx: &a {*a : 1}\n---\n\nwords", "nested too deeply"),
        (b"---\n" + b"\n".join(BOMB) + b"\n---\n\nwords", "more than 1000 values"),
        (b"---\ntitle: " + b"x" * 20_000 + b"\n---\n\nwords", "longer than 16000 characters"),
        (b"---\ntitle: " + b"x" * 9_000 + b"\n---\n\nwords", "longer than 8000 characters"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_and_loses_nothing(shelf, content, reason):
    path = shelf.write("02_carriers/line.md", "# Line\n\nSails weekly.")
    shelf.ingest()
    path.write_bytes(content)
    report = shelf.ingest()

    [problem] = report.problems
    assert problem.path == "02_carriers/line.md"
    assert reason in problem.reason
    assert counts(report) == (0, 0, 3, 0)
    assert shelf.store.count() == 4


def test_what_is_no_knowledge_is_skipped_and_said_so(shelf):
    for name in ("README.md", ".hidden/x.md", "01_regulatory/logo.png", "02_carriers/.draft.md"):
        shelf.write(name, "words")

    assert {problem.path for problem in shelf.ingest().skipped} == {
        ".hidden",
        "01_regulatory/logo.png",
        "02_carriers/.draft.md",
        "README.md",
    }


def test_two_files_with_one_document_id_are_refused_not_mixed_but_one_that_cannot_be_read_takes_none(shelf):
    shelf.write("01_regulatory/gst.markdown", "# Other\n\nWords.")
    shelf.write("02_carriers/line.docx", "no Word document")
    shelf.write("02_carriers/line.md", "Sails weekly.")
    problems = {problem.path: problem.reason for problem in shelf.ingest().problems}

    assert problems.keys() == {GST, "02_carriers/line.docx"}
    assert "same document id, '01_regulatory_gst', as '01_regulatory/gst.markdown'" in problems[GST]
    assert {chunk["doc_id"] for chunk in shelf.metadata()} == {"01_regulatory_gst", "02_carriers_line"}


def test_a_path_that_does_not_exist_or_that_no_loader_reads_stops_before_anything_changes(shelf, tmp_path):
    with pytest.raises(IngestionError, match="does not exist"):
        shelf.ingest(shelf.corpus, tmp_path / "nowhere")
    with pytest.raises(IngestionError, match=r"'x.png' has no ending that can be read"):
        shelf.ingest(shelf.write("x.png", "words"))
    assert shelf.store.count() == 0


@pytest.mark.parametrize("ending", ["md", "txt"])
def test_a_file_of_headings_only_keeps_what_the_index_holds_of_it(shelf, ending):
    path = shelf.write(f"02_carriers/line.{ending}", "# Line\n\nSails weekly.")
    shelf.ingest()
    path.write_text("# Line\n\n## Sailings\n" if ending == "md" else " \n")

    [problem] = shelf.ingest().problems
    assert "there is no text to index" in problem.reason
    assert shelf.store.count() == 4


def test_a_page_goes_with_its_chunk_and_one_without_text_is_warned_of(shelf):
    path = shelf.write("03_reference/rates.pdf", "")
    path.write_bytes(pdf("First page.", "", "Third page."))
    report = shelf.ingest()

    pages = [(chunk["page"], chunk["text"]) for chunk in shelf.metadata() if "page" in chunk]
    assert pages == [(1, "First page."), (3, "Third page.")]
    assert report.warnings == [Problem("03_reference/rates.pdf", "page 2 has no text; it may be a scanned image")]
    assert report.problems == []


def test_titles_links_and_offsets_are_those_of_the_files_and_what_is_no_link_is_warned_of(shelf):
    files = {
        "plain.md": "# The Heading\n\nWords.",
        "no_heading.md": "Only words.",
        "port_notes.txt": "\ufeff# No heading here.\r\nPlain words.\r\n",
        "windows.md": "\ufeff---\r\ntitle: W\r\n---\r\n\r\n# W\r\n\r\nSome words.\r\n",
        "one.md": "---\nsource_urls: https://a.example/x, https://b.example/y\n---\n\n# One\n\nWords.",
        "two.md": "---\nsource_urls: [N/A, the intranet]\n---\n\n# Two\n\nOther words.",
    }
    paths = {
        f"03_reference_{name.partition('.')[0]}": shelf.write(f"03_reference/{name}", files[name]) for name in files
    }
    report = shelf.ingest()

    chunks = {chunk["doc_id"].removeprefix("03_reference_"): chunk for chunk in shelf.metadata()}
    assert {name: chunk["title"] for name, chunk in chunks.items() if name in {"plain", "no_heading", "windows"}} == {
        "plain": "The Heading",
        "no_heading": "No Heading",
        "windows": "W",
    }
    text = chunks["port_notes"]
    assert (text["title"], text["section"], text["text"]) == ("Port Notes", "", "# No heading here.\nPlain words.")
    for name in ("port_notes", "windows"):
        read = paths[f"03_reference_{name}"].read_text(encoding="utf-8")
        assert read[chunks[name]["start_char"] : chunks[name]["end_char"]] == chunks[name]["text"]
    assert json.loads(chunks["one"]["source_urls"]) == ["https://a.example/x", "https://b.example/y"]
    assert json.loads(chunks["two"]["source_urls"]) == []
    reason = "source_urls holds 'the intranet', which is no link and is left out; write https://host/page"
    assert report.warnings == [Problem("03_reference/two.md", reason)]


def test_a_small_index_is_warned_of_whatever_the_run_itself_did(shelf):
    [first] = shelf.ingest(min_chunks=4).warnings
    [again] = shelf.ingest(min_chunks=4).warnings
    [dry] = shelf.ingest(min_chunks=4, dry_run=True).warnings

    assert first == again == dry == Problem("the index", first.reason)
    assert "it holds 3 chunks, fewer than MIN_CHUNKS=4" in first.reason
    assert shelf.ingest(min_chunks=3).warnings == []


def test_progress_within_a_long_document_counts_its_chunks(shelf, monkeypatch):
    monkeypatch.setattr(index, "CHUNKS_A_BATCH", 10)
    monkeypatch.setattr(index, "MANY_CHUNKS", 40)
    shelf.write("long.md", "\n\n".join(f"## Part {number}\n\n{'word ' * 100}{number}." for number in range(40)))
    told: list[tuple[int, str]] = []
    shelf.ingest(progress=lambda done, total, label: told.append((done, label)))

    assert told == [
        (1, "01_regulatory/gst.md"),
        *[(1, f"long.md, {written} of 43 chunks") for written in (0, 0, 10, 21)],
        (2, "long.md"),
        (2, "done"),
    ]


def test_progress_counts_the_files_that_were_read(shelf):
    for number in range(3):
        shelf.write(f"02_carriers/line{number}.md", "# Line\n\nSails weekly.")
    told: list[tuple[int, int]] = []
    shelf.ingest(progress=lambda done, total, label: told.append((done, total)))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4), (4, 4)]


def test_a_chunk_that_gives_orders_to_a_language_model_is_marked_and_named(shelf):
    report = shelf.ingest(
        suspicious=lambda texts: {place: "obey me" for place, text in enumerate(texts) if "Exceptions" in text}
    )

    assert [chunk.get("suspicious") for chunk in shelf.metadata()] == [None, None, "true"]
    warning = "1 of 3 chunks read like orders to a language model, and are not shown to it: “obey me”"
    assert warning in [problem.reason for problem in report.warnings]
