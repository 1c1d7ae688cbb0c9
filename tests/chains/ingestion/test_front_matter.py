"""What the front matter and the folders of a file say of it."""

import pytest

from chains.ingestion.text_files import load_markdown
from tests.shelf import Shelf


@pytest.fixture
def shelf(tmp_path) -> Shelf:
    return Shelf(tmp_path)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2024-02-30", "2024-02-30"),
        ("2026-01-31", "2026-01-31"),
        ("25:00:00", "25:00:00"),
        ("0x_", "0x_"),
        ("!!int x", "x"),
        ("!!python/object/apply:os.system [id]", "id"),
        ("9" * 5000, "9" * 5000),
        ('"a\\0\\eb"', "ab"),
        ("1.10", "1.10"),
        ("~", None),
        ("null", None),
        ("'null'", "null"),
        ("", None),
        ("[a, [b, ~], c]", "a, b, c"),
    ],
)
def test_any_value_of_a_front_matter_is_text_and_none_ends_the_run(shelf, value, expected):
    shelf.write("02_carriers/line.md", f"---\nlast_updated: {value}\n---\n\nSails weekly.")
    report = shelf.ingest()

    assert (report.problems, report.files) == ([], 2)
    [chunk] = [chunk for chunk in shelf.metadata() if chunk["doc_id"] == "02_carriers_line"]
    assert chunk.get("last_updated") == expected


@pytest.mark.parametrize(
    ("name", "front_matter", "given", "expected"),
    [
        ("04_internal_synthetic/policies/x.md", "", "", ("internal", "internal")),
        ("a/04_Internal_Synthetic/b/x.md", "category: reference", "", ("internal", "internal")),
        ("04_internal_synthetic/policies/x.md", "", "04_internal_synthetic/policies", ("internal", "internal")),
        ("04_internal_synthetic/policies/x.md", "", "04_internal_synthetic/policies/x.md", ("internal", "internal")),
        ("kb/01_REGULATORY/asia/x.md", "", "", ("regulatory", "public")),
        ("01_regulatory/x.md", "", "01_regulatory/x.md", ("regulatory", "public")),
        ("01_regulatory/x.md", "audience: Internal", "", ("regulatory", "internal")),
        ("01_regulatory/x.md", "audience: [staff, sales]", "", ("regulatory", "internal")),
        ("01_regulatory/x.md", "category: internal", "", ("internal", "internal")),
        ("01_regulatory/x.md", "source_type: Internal", "", ("regulatory", "internal")),
        ("01_regulatory/x.md", "category: carrier", "", ("carrier", "public")),
        ("04_internal_synthetic/x.md", "audience: public", "", ("internal", "public")),
        ("sales/x.md", "category: tariffs", "", ("tariffs", "public")),
        ("sales/asia/x.md", "", "", ("sales_asia", "public")),
    ],
)
def test_folders_of_any_depth_and_the_front_matter_decide_category_and_audience(
    shelf, name, front_matter, given, expected
):
    shelf.write(name, f"---\n{front_matter}\n---\n\nSails weekly.")
    report = shelf.ingest(shelf.corpus / given)

    [chunk] = [chunk for chunk in shelf.metadata() if chunk["file_path"].endswith("x.md")]
    assert (chunk["category"], chunk["audience"]) == expected
    assert report.internal == (expected[1] == "internal")


def test_a_link_is_as_internal_as_its_name_and_as_what_it_leads_to(shelf, tmp_path):
    shelf.write("04_internal_synthetic/.hidden/x.md", "Secret.")
    shelf.write("public/.keep", "")
    (shelf.corpus / "public" / "x.md").symlink_to("../04_internal_synthetic/.hidden/x.md")
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "y.md").write_text("Secret, too.")
    (tmp_path / "internal").symlink_to(plain)

    assert shelf.ingest(shelf.corpus, tmp_path / "internal").internal == 2


def test_a_heading_of_a_megabyte_is_no_name_that_every_chunk_carries(shelf):
    shelf.write("02_carriers/line.md", "# " + "long " * 20_000 + "\n\nWords.\n\n## Part\n\n" + "Sails weekly. " * 500)
    shelf.ingest()
    assert max(len(chunk["section_path"]) for chunk in shelf.metadata()) < 1000


@pytest.mark.parametrize(
    ("front_matter", "title", "warning"),
    [
        (
            "---\ntitle: Ferry: the rules\nauthor: @ann\n---\n",
            "Ferry: the rules",
            ") at line 2; its lines are read one by one",
        ),
        ("---\ntitle: Ferries\ntags:\n\t- sea\n---\n", "Ferries", "not valid YAML"),
        ("---\ntitle: [x\n---\n", "[x", "not valid YAML"),
        ("---\ntitle: *nowhere\n---\n", "*nowhere", "undefined alias"),
        ("---\ntitle: Ferries\n\n", "Line", "is never closed and is read as text"),
    ],
)
def test_a_front_matter_that_does_not_parse_leaves_the_text_and_warns(shelf, front_matter, title, warning):
    shelf.write("02_carriers/line.md", f"{front_matter}# Line\n\nSails weekly.")
    report = shelf.ingest()

    assert {chunk["title"] for chunk in shelf.metadata() if chunk["doc_id"] == "02_carriers_line"} == {title}
    assert any(warning in one.reason for one in report.warnings)


@pytest.mark.parametrize("text", ["\n# Line\n\nSails weekly.\n\n", "- a\n- b\n"])
def test_a_text_between_two_rules_is_no_front_matter(tmp_path, text):
    file = tmp_path / "line.md"
    file.write_text(f"---\n{text}---\n\nAt noon.")
    source = load_markdown(file)
    assert (source.body_start, source.warnings) == (0, ())


@pytest.mark.parametrize(
    "front_matter",
    [
        "---\ntitle: Line: rates\naudience: internal\n---\n",
        "---\ntitle: Line: rates\naudience:\n  - internal\n---\n",
        "---\ntitle: Line: rates\nmeta:\n  audience: staff\n---\n",
        '---\ntitle: Line: rates\n"audience": directors\n---\n',
        "---\ntitle: x\naudience:\n - internal\n\n",
        "---\ntitle: x\nAudience: staff\n\n",
    ],
)
def test_a_front_matter_that_does_not_parse_still_decides_who_sees_the_text(shelf, front_matter):
    shelf.write("02_carriers/line.md", f"{front_matter}# Line\n\nSails weekly.")
    assert shelf.ingest().internal == 1
