import pytest

from chains.errors import IngestionError
from chains.ingestion.files import find_files


@pytest.fixture
def corpus(tmp_path):
    for name in ("01_regulatory/gst.md", "drafts/gst.md", "drafts/kept.md", "02_carriers/line.txt", "02_carriers/x.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("words")
    return tmp_path


def found(corpus) -> list[str]:
    return [file.relative for file in find_files([corpus], {".md", ".txt"})[0]]


def test_what_a_waypointignore_matches_is_skipped_with_the_line_that_matched(corpus):
    (corpus / ".waypointignore").write_text("# no knowledge yet\n\ndrafts/*\n!drafts/kept.md\n*.txt\n")

    assert found(corpus) == ["01_regulatory/gst.md", "02_carriers/x.md", "drafts/kept.md"]
    assert [(skipped.path, skipped.reason) for skipped in find_files([corpus], {".md", ".txt"})[1]] == [
        (".waypointignore", "hidden"),
        ("02_carriers/line.txt", "'*.txt' in .waypointignore"),
        ("drafts/gst.md", "'drafts/*' in .waypointignore"),
    ]


def test_a_leading_slash_means_the_top_of_the_corpus(corpus):
    (corpus / ".waypointignore").write_text("/gst.md\n/drafts\n")
    assert found(corpus) == ["01_regulatory/gst.md", "02_carriers/line.txt", "02_carriers/x.md"]


def test_a_waypointignore_below_the_top_says_nothing(corpus):
    (corpus / "drafts" / ".waypointignore").write_text("*\n")
    assert "drafts/gst.md" in found(corpus)


def test_a_file_given_by_name_is_taken_whatever_is_ignored(corpus):
    (corpus / "drafts" / ".waypointignore").write_text("*\n")
    assert [file.relative for file in find_files([corpus / "drafts" / "gst.md"], {".md"})[0]] == ["gst.md"]


@pytest.mark.parametrize("content", [b"\xff\xfe", b"drafts/\n!\n"])
def test_a_waypointignore_that_cannot_be_read_stops_the_run(corpus, content):
    (corpus / ".waypointignore").write_bytes(content)
    with pytest.raises(IngestionError, match=r"^\.waypointignore in .* cannot be read"):
        find_files([corpus], {".md"})
