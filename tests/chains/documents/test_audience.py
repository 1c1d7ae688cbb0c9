"""Whom a document is for, in every form in which it may say so."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.adapters.documents.worker import LOADERS
from chains.citations.sources import related_documents
from chains.documents.audience import audience_of, category_of
from chains.ingestion.chunks import Chunker
from chains.ingestion.parsing import parse_file
from chains.ingestion.statements import audiences_in, mark_in, mark_in_name
from chains.ingestion.text_files import load_markdown
from chains.retrieval.filters import Filters
from tests.cases import cases
from tests.office_documents import xlsx
from tests.shelf import Shelf
from tests.stated_audiences import BODY, FOLDERS, MARKDOWN, OTHERS, PUBLIC, WORDS, page


@pytest.mark.parametrize(
    ("names", "category"),
    [
        (["kb", "04_internal_synthetic", "policies"], "internal"),
        (["04_INTERNAL_Synthetic"], "internal"),
        (["Internal"], "internal"),
        (["04_internal_synthetic", "01_regulatory"], "internal"),
        (["01_regulatory", "internal"], "internal"),
        (["02_carriers", "03_reference"], "reference"),
        (["kb", "02_carriers", "asia"], "carrier"),
        (["sales"], None),
        ([None, ""], None),
        ([], None),
    ],
)
def test_any_folder_decides_the_category_and_internal_wins(names, category):
    assert category_of(names) == category


@pytest.mark.parametrize(
    "metadata",
    [
        {"audience": "internal"},
        {"audience": " Internal "},
        {"audience": "staff"},
        {"audience": "public, internal"},
        {"category": "INTERNAL"},
        {"category": "04_internal_synthetic"},
        {"source_type": "Internal"},
        {"source_type": "Synthetic Internal"},
        {"source_type": "internal_memo"},
        {"category": "policy", "file_path": "04_internal_synthetic/policies/x.md"},
        {"file_path": "kb\\04_Internal_Synthetic\\x.md"},
    ],
)
def test_what_says_internal_in_any_way_is_internal(metadata):
    assert audience_of(metadata, unstated="public") == "internal"
    assert not Filters("public").allow(metadata)


def test_a_document_that_states_nothing_is_what_the_caller_says():
    assert audience_of({"category": "carrier"}, unstated="public") == "public"
    assert audience_of({"category": "carrier"}) == "internal"


def test_a_related_document_is_of_the_category_that_its_folder_stands_for():
    metadata = {"title": "T", "doc_id": "t"}
    categories = ["04_Internal_Synthetic", "Regulatory", "sales", None]
    related = [
        related_documents([{"content": "c", "metadata": metadata | {"category": category}, "score": 1.0}])[0]
        for category in categories
    ]
    assert [one["category"] for one in related] == ["internal", "regulatory", "sales", None]


def audience(path, content: str | bytes) -> str:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    parsed = parse_file(path, LOADERS, Chunker())
    assert "nine percent" in parsed.chunks[-1].text
    return audience_of(parsed.metadata, unstated="public")


QUIET = {
    "a meta tag": ("a.html", page('<meta name="audience" content="public">')),
    "JSON": ("a.jsonl", json.dumps({"title": "T", "text": WORDS, "audience": "public"})),
    "a sheet": ("a.xlsx", xlsx({"Rates": [["Text", "Audience"], [WORDS, "Public"]]})),
    "plain text": ("a.txt", f"audience: public\n\n{WORDS}"),
}
SAID = {
    "markdown that says so in any form is internal": [
        ("line.md", head + BODY, "internal") for head in MARKDOWN.values()
    ],
    "markdown that does not say so is public": [("line.md", head + BODY, "public") for head in PUBLIC.values()],
    "so is plain text": [("line.txt", head + WORDS, "internal") for head in MARKDOWN.values()],
    "plain text that does not say so is public": [("line.txt", head + WORDS, "public") for head in PUBLIC.values()],
    "every other format can say so": [(*file, "internal") for file in OTHERS.values()],
    "what says public is public in other formats too": [(*file, "public") for file in QUIET.values()],
}


@pytest.mark.parametrize(("name", "content", "expected"), cases(SAID))
def test_the_audience_is_what_the_text_says(tmp_path, name, content, expected):
    assert audience(tmp_path / name, content) == expected


def test_a_front_matter_of_unusual_form_is_read_as_a_whole_and_is_no_text(tmp_path):
    path = tmp_path / "line.md"
    for text in (
        "<!-- x -->\n\n---\ntitle: T\n---\nWords.\n",
        "----\nTitle: T\n----\nWords.\n",
        "+++\ntitle='T'\n+++\nWords.\n",
    ):
        path.write_text(text)
        source = load_markdown(path)
        assert (source.metadata["title"], source.text[source.body_start :]) == ("T", "Words.\n")


NAMES = st.sampled_from(["audience", "Audience", "AUDIENCE", "audi\u200bence", "\u0430udience", "'audience'"])
VALUES = st.sampled_from(
    ["internal", "Internal", "'INTERNAL'", "[internal]", "directors", "int\u00aderal", "publi\u0441"]
)
LINES = st.lists(
    st.sampled_from(["title: T", "audience: public", "Category: carrier", "x: {y: [1]}", "# c", ""]), max_size=4
)
BEFORE = st.lists(st.sampled_from(["\ufeff", "\n", " \n", "<!-- c -->\n", "\u200b"]), max_size=3).map("".join)
FENCES = st.sampled_from([("---", "---"), ("----", "---"), ("---", "-----"), ("\u2014-", "\u2014-")])


@pytest.mark.untraced
@given(BEFORE, FENCES, LINES, NAMES, VALUES, LINES)
def test_no_line_before_or_behind_it_takes_a_stated_audience_back(
    tmp_path_factory, before, fences, above, name, value, below
):
    front = "\n".join([fences[0], *above, f"{name}: {value}", *below, fences[1], ""])

    assert audience(tmp_path_factory.getbasetemp() / "stated.md", f"{before}{front}{BODY}") == "internal"


@given(st.text(max_size=300))
def test_any_text_can_be_asked_what_it_says(text):
    audiences_in(text, rows=True)
    mark_in(text)
    mark_in_name(text)


def test_a_folder_that_says_internal_in_any_spelling_is_internal_with_all_below_it_and_no_other(tmp_path):
    shelf = Shelf(tmp_path)
    for folder in FOLDERS:
        shelf.write(f"01_regulatory/{folder}/asia/line.md", BODY)
    others = ("international", "interna", "external", "terminals", "x/public")
    for folder in others:
        shelf.write(f"01_regulatory/{folder}/line.md", BODY)
    report = shelf.ingest()

    assert (report.files, report.internal) == (len({*FOLDERS}) + len(others) + 1, len({*FOLDERS}))
    for chunk in shelf.metadata():
        says_so = chunk["file_path"].endswith("asia/line.md")
        assert (chunk["category"], chunk["audience"]) == ("internal",) * 2 if says_so else ("regulatory", "public")

    folder = tmp_path / "Internal Documents"  # What is given may say so itself.
    folder.mkdir()
    (folder / "own.md").write_text(BODY)
    assert shelf.ingest(folder).internal == 1


MARKED = {
    "02_carriers/CONFIDENTIAL rates.md": BODY,
    "02_carriers/internal_memo.md": BODY,
    "restricted/rates.md": BODY,
    "02_carriers/StaffOnly.md": BODY,
    "02_carriers/notice.md": f"# Rates\n\nFor internal use only\n\n{WORDS}\n",
    "02_carriers/label.md": f"---\ntitle: T\nclassification: Restricted\n---\n{BODY}",
    "02_carriers/shout.md": f"STRICTLY CONFIDENTIAL\n\n{WORDS}\n",
    "02_carriers/share.md": f"# Rates\n\nDo not distribute.\n\n{WORDS}\n",
    "02_carriers/german.md": f"# Preise\n\nVertraulich\n\n{WORDS}\n",
    "02_carriers/chinese.md": f"# \u5185\u90e8\u6587\u4ef6\n\n{WORDS}\n",
    "02_carriers/short.md": f"# Internal price list\n\n{WORDS}\n",
    "04_internal_synthetic/open.md": f"---\naudience: public\n---\n{BODY}",
}
UNMARKED = {
    "02_carriers/restricted_goods.md": f"# Restricted goods\n\n{WORDS}\n",
    "02_carriers/prohibited.md": f"# Prohibited and restricted items\n\n{WORDS}\n",
    "02_carriers/hs.md": f"# Tariffs\n\nGoods are classified under headings; private individuals pay tax.\n\n{WORDS}\n",
    "02_carriers/international.md": f"# International freight\n\n{WORDS}\n",
    "internal/known.md": f"# Confidential\n\n{WORDS}\n",
}


def test_a_warning_names_every_public_file_that_says_it_is_not(tmp_path):
    shelf = Shelf(tmp_path)
    for name, text in (MARKED | UNMARKED).items():
        shelf.write(name, text)
    warned = {problem.path: problem.reason for problem in shelf.ingest().warnings}

    assert set(warned) == set(MARKED)
    assert all(reason.startswith("strangers may see it, though its ") for reason in warned.values())
    assert "its path says 'internal_memo.md'" in warned["02_carriers/internal_memo.md"]
    assert "its first lines say 'for internal use only'" in warned["02_carriers/notice.md"]
    assert {problem.path for problem in shelf.ingest(dry_run=True).warnings} == set(MARKED)
