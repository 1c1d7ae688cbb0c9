"""Texts: their encoding, front matter, and what of their Markdown is shown."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.errors import IngestionError
from chains.ingestion.source import own_title
from chains.ingestion.text_files import load_markdown, shown_markdown
from chains.regular_files import read_any_text, read_text
from chains.safe_yaml import MAX_DEPTH, MOST_CHARACTERS, YamlError, read_values
from tests.shelf import Shelf


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Prüfgebühr für Großgut: 70 € je Stück – gültig ab März."),
        ("cp1252", "Größe;Preis\nÜberlänge;12,50 €\n"),
        ("cp1250", "Poplatek za skladování činí dvanáct korun. Příliš žluťoučký kůň."),
        ("cp1251", "Склад открыт с девяти часов утра. Сбор составляет сорок рублей."),  # noqa: RUF001
        ("utf_16", "Prüfgebühr: 70 €\n"),
        ("cp932", "港の使用料は一日三千円です。受付は午前八時からです。"),
        ("gb18030", "码头每天收费三千元。办理时间为上午八点。"),
    ],
)
def test_a_text_in_another_encoding_is_read_and_the_encoding_named(tmp_path, encoding, text):
    file = tmp_path / "x.txt"
    file.write_bytes(text.encode(encoding))
    read, [warning] = read_any_text(file)
    assert read == text
    assert f"read as {encoding}" in warning


def test_what_is_no_text_is_refused_and_so_are_settings_that_are_not_utf8(tmp_path):
    file = tmp_path / "scope.yaml"
    for content in (b"\xff\xfe", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\xff"):
        file.write_bytes(content)
        with pytest.raises(IngestionError, match="not UTF-8 text"):
            read_any_text(file)
    file.write_bytes("topics: [Gebühr]".encode("cp1252"))
    with pytest.raises(IngestionError, match=r"not UTF-8 text \(byte 12 "):
        read_text(file)


def test_a_title_that_a_program_wrote_is_none():
    none = [
        *("untitled", "(anonymous)", "10811.exe", "88300 162..177", "IMG_2031", "", "Untitled Document", "Document1"),
        *("PowerPoint Presentation", "Microsoft Word", "index.html", r"C:\tmp\plan", "[Company name]", "New Page 1"),
    ]
    titles = ["Crane plan", "Document control", "2031 fees", "Presentation of crane 4"]
    assert [title for title in none + titles if own_title(title)] == [own_title(title) for title in titles] == titles


@pytest.fixture
def shelf(tmp_path) -> Shelf:
    return Shelf(tmp_path)


VALUES = {
    **{value: value for value in ("2024-02-30", "2026-01-31", "25:00:00", "0x_", "9" * 5000, "1.10")},
    "!!int x": "x",
    "!!python/object/apply:os.system [id]": "id",
    '"a\\0\\eb"': "ab",
    "~": None,
    "null": None,
    "'null'": "null",
    "": None,
    "[a, [b, ~], c]": "a, b, c",
}


def test_any_value_of_a_front_matter_is_text_and_none_ends_the_run(shelf):
    for number, value in enumerate(VALUES):
        shelf.write(f"line{number}.md", f"---\nlast_updated: {value}\n---\n\nSails weekly.")
    report = shelf.ingest()
    assert (report.problems, report.files) == ([], len(VALUES) + 1)
    read = {chunk["doc_id"]: chunk.get("last_updated") for chunk in shelf.metadata()}
    assert [read[f"line{number}"] for number in range(len(VALUES))] == list(VALUES.values())


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


@pytest.mark.untraced
def test_a_heading_of_a_megabyte_is_no_name_that_every_chunk_carries(shelf):
    shelf.write("02_carriers/line.md", "# " + "long " * 20_000 + "\n\nWords.\n\n## Part\n\n" + "Sails weekly. " * 500)
    shelf.ingest()
    assert max(len(chunk["section_path"]) for chunk in shelf.metadata()) < 1000


UNREADABLE = {
    "---\ntitle: Ferry: the rules\nauthor: @ann\n---\n": (
        "Ferry: the rules",
        ") at line 2; its lines are read one by one",
    ),
    "---\ntitle: Ferries\ntags:\n\t- sea\n---\n": ("Ferries", "not valid YAML"),
    "---\ntitle: [x\n---\n": ("[x", "not valid YAML"),
    "---\ntitle: *nowhere\n---\n": ("*nowhere", "undefined alias"),
    "---\ntitle: Ferries\n\n": ("Line", "is never closed and is read as text"),
}
UNREADABLE_INTERNAL = (
    "---\ntitle: Line: rates\naudience: internal\n---\n",
    "---\ntitle: Line: rates\naudience:\n  - internal\n---\n",
    "---\ntitle: Line: rates\nmeta:\n  audience: staff\n---\n",
    '---\ntitle: Line: rates\n"audience": directors\n---\n',
    "---\ntitle: x\naudience:\n - internal\n\n",
    "---\ntitle: x\nAudience: staff\n\n",
)


def test_a_front_matter_that_does_not_parse_leaves_the_text_warns_and_still_decides_who_sees_it(shelf):
    for number, front_matter in enumerate([*UNREADABLE, *UNREADABLE_INTERNAL]):
        shelf.write(f"{number}.md", f"{front_matter}# Line\n\nSails weekly.")
    report = shelf.ingest()

    chunks = {chunk["doc_id"]: chunk for chunk in shelf.metadata()}
    for number, (title, warning) in enumerate(UNREADABLE.values()):
        assert (chunks[str(number)]["title"], chunks[str(number)]["audience"]) == (title, "public")
        assert any(warning in one.reason for one in report.warnings if one.path == f"{number}.md")
    internal = {name for name, chunk in chunks.items() if chunk["audience"] == "internal"}
    assert internal == {str(len(UNREADABLE) + number) for number in range(len(UNREADABLE_INTERNAL))}


@pytest.mark.parametrize("text", ["\n# Line\n\nSails weekly.\n\n", "- a\n- b\n"])
def test_a_text_between_two_rules_is_no_front_matter(tmp_path, text):
    file = tmp_path / "line.md"
    file.write_text(f"---\n{text}---\n\nAt noon.")
    source = load_markdown(file)
    assert (source.body_start, source.warnings) == (0, ())


@pytest.mark.parametrize(
    ("hidden", "named"),
    [
        ("~~It was 40 t.~~", "It was 40 t."),
        ("<del>It was 40 t.</del>", "It was 40 t."),
        ("<!-- ask Ann\nabout it -->", "ask Ann about it"),
        ("%% ask Ann %%", "ask Ann"),
        ("\n[//]: # (ask Ann)\n", "[//]: # (ask Ann)"),
    ],
)
def test_what_is_struck_out_or_a_comment_is_left_out_and_named(hidden, named):
    text, [warning] = shown_markdown(f"The crane\nlifts {hidden} 55 t.\n\nNext line.\n")
    assert " ".join(text.split()) == "The crane lifts 55 t. Next line."
    assert named in warning


def test_every_line_begins_where_it_began():
    source = "# A\n\n~~old~~ new\n<!-- x\ny -->\nlast"
    shown, _ = shown_markdown(source)
    assert [shown.index(word) for word in ("# A", "last")] == [source.index(word) for word in ("# A", "last")]
    assert "\nnew" in shown


def test_code_single_marks_and_a_comment_that_says_who_may_read_the_text_stay():
    code = ("```\n<!-- a -->\n~~b~~\n```\n", "~~~\n<table></table>\n~~~\n")
    for text in (*code, "`~~a~~`", "a ~~ b ~~ c", "\\~~a~~", "5%% of 6%%"):
        assert shown_markdown(text) == (text, ())
    assert "audience: staff" in shown_markdown("<!-- audience: staff -->\n\nText.")[0]


def test_an_html_table_is_a_table():
    html = "<table>\n<tr><th>Port<th>Fee</tr>\n\n<tr><td rowspan=2>Tema<td>3</tr><tr><td>4</tr></table>"
    assert "| Port | Fee |\n| --- | --- |\n| Tema | 3 |\n| Tema | 4 |" in shown_markdown(f"# Fees\n{html}\nEnd.")[0]


def test_a_comment_in_code_is_no_title(tmp_path):
    file = tmp_path / "notes.md"
    file.write_text("```sh\n# install it\n```\n\nTool Guide\n==========\n\nText.\n")
    assert load_markdown(file).metadata["title"] == "Tool Guide"


MERGED = "\n".join(
    ["a: &a {x: 1}", *(f"{new}: &{new} {{<<: [{', '.join(['*' + old] * 9)}]}}" for old, new in pairwise("abcdefghij"))]
)


def test_values_stay_as_they_are_written():
    text = "a: 010\nb: 2024-02-30\nc: [yes, ~, '', null]\nd: {<<: x}\ne: 1:1:1\nf: !!python/name:os.system [x]\n"

    assert read_values(text) == {
        "a": "010",
        "b": "2024-02-30",
        "c": ["yes", None, "", None],
        "d": {"<<": "x"},
        "e": "1:1:1",
        "f": ["x"],
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (MERGED, "more than 50000 values"),
        ("a: &a [*a]", "nested too deeply"),
        ("[" * 1_000_000, "nested too deeply"),
        ("- " * 100_000, "nested too deeply"),
        ("a: " + "[" * MAX_DEPTH + "]" * MAX_DEPTH, "nested too deeply"),
        ("x" * (MOST_CHARACTERS + 1), "longer than"),
        ("? [a]\n: b", "a list or a mapping in the place of a name"),
        ("a: *b", "undefined alias"),
        ("a: \x01", "a control character"),
        ("a: \ud800", "UTF-8"),
        ("a\n---\nb", "not valid YAML"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_reason(text, problem):
    with pytest.raises(YamlError, match=problem):
        read_values(text)


def test_an_alias_counts_as_often_as_it_is_used():
    text = "a: &a [1, 2, 3]\nb: [*a, *a]\n"

    assert read_values(text, most_values=16)["b"] == [["1", "2", "3"]] * 2
    with pytest.raises(YamlError, match="more than 13 values"):
        read_values(text, most_values=13)


SIGNS = st.sampled_from(["a", ": ", "- ", "&a ", "*a ", "[", "]", "{", "}", "\n", "  "])


@given(st.text() | st.lists(SIGNS).map("".join))
def test_any_text_is_read_or_refused(text):
    try:
        read_values(text)
    except YamlError as error:
        assert error.line > 0  # noqa: PT017 - either end is right.
