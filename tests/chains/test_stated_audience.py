"""Every form in which a document may say that it is internal, in every format that can say it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.adapters.documents.worker import LOADERS
from chains.audience import audience_of
from chains.ingestion.chunks import Chunker
from chains.ingestion.parsing import parse_file
from chains.ingestion.statements import audiences_in, mark_in, mark_in_name
from chains.ingestion.text_files import load_markdown
from tests.documents import docx, paragraph, pdf
from tests.office_documents import eml, epub, pptx, xlsx
from tests.shelf import Shelf

WORDS = "Sails weekly to Jakarta, and the rate is nine percent."
BODY = f"# Line\n\n## Rate\n\n{WORDS}\n"

MARKDOWN = {
    "as documented": "---\ntitle: T\naudience: internal\n---\n",
    "a name with a capital": "---\nAudience: internal\n---\n",
    "a name in capitals": "---\nAUDIENCE: INTERNAL\n---\n",
    "a name with an invisible letter": "---\naud\u200bience: internal\n---\n",
    "a name with a lookalike letter": "---\n\u0430udience: internal\n---\n",
    "a wide name": "---\n\uff41\uff55\uff44\uff49\uff45\uff4e\uff43\uff45: internal\n---\n",
    "a name with quotes": "---\n'Audience' : internal\n---\n",
    "a value with an invisible letter": "---\naudience: pub\u200blic2\n---\n",
    "a value that looks like public": "---\naudience: publi\u0441\n---\n",
    "behind a blank line": "\n---\naudience: internal\n---\n",
    "behind blanks": "  \n\t\n---\naudience: internal\n---\n",
    "behind a BOM": "\ufeff---\naudience: internal\n---\n",
    "behind a BOM and a blank line": "\ufeff\n---\naudience: internal\n---\n",
    "behind an invisible letter": "\u200b---\naudience: internal\n---\n",
    "behind a comment": "<!-- made by a tool -->\n---\naudience: internal\n---\n",
    "behind a comment of lines": "<!--\nmade by\na tool\n-->\n\n---\naudience: internal\n---\n",
    "behind a heading": "# Line\n---\naudience: internal\n---\n",
    "four dashes": "----\naudience: internal\n----\n",
    "dashes as an editor writes them": "\u2014-\naudience: directors\n\u2014-\n",
    "closed by dots": "---\naudience: internal\n...\n",
    "TOML": '+++\ntitle = "T"\naudience = "internal"\n+++\n',
    "TOML with a capital": '+++\nAudience = "directors"\n+++\n',
    "TOML, twice": '+++\naudience = "public"\naudience = "internal"\n+++\n',
    "TOML in a table": '+++\ntitle = "T"\n[extra]\naudience = "internal"\n+++\n',
    "JSON": '{\n  "title": "T",\n  "audience": "internal"\n}\n',
    "twice, the last public": "---\naudience: internal\naudience: public\n---\n",
    "twice, the first public": "---\naudience: public\naudience: internal\n---\n",
    "twice in other cases": "---\nAudience: internal\naudience: public\n---\n",
    "merged": "---\nbase: &b {audience: internal}\n<<: *b\ntitle: T\n---\n",
    "merged below public": "---\nbase: &b\n  audience: internal\n<<: *b\naudience: public\n---\n",
    "nested": "---\nmeta:\n  audience: internal\n---\n",
    "a list": "---\naudience: [public, internal]\n---\n",
    "a list of lines": "---\naudience:\n  - public\n  - internal\n---\n",
    "a map": "---\naudience: {who: internal}\n---\n",
    "a folded value": "---\naudience: >\n  internal\n---\n",
    "an indented name": "---\n  audience: internal\n  title: T\n---\n",
    "another word": "---\naudience: directors\n---\n",
    "a category with a capital": "---\nCategory: internal\n---\n",
    "categories, twice": "---\ncategory: internal\ncategory: carrier\n---\n",
    "a source type with a capital": "---\nSource_Type: Internal memo\n---\n",
    "no fences": "Audience: internal\n\n",
    "no fences, another word": "Title: T\nAudience: directors\n\n",
    "bold": "# Line\n\n**Audience:** internal\n\n",
    "a quotation": "> Audience: internal\n\n",
    "a list entry": "- Audience: Internal staff\n\n",
    "a comment": "<!-- audience: internal -->\n\n",
}
PUBLIC = {
    "nothing": "",
    "public": "---\naudience: public\n---\n",
    "Public": "---\naudience: Public # for all\n---\n",
    "PUBLIC with an invisible letter": "---\naudience: PUB\u200bLIC\n---\n",
    "two lines of it": "---\naudience: public\nAudience: public\n---\n",
    "a rule and words": "\n---\n\nNote: read this first.\n\n---\n\n",
    "its readers": "# Line\n\nAudience: importers and brokers\n\n",
    "a word of the text": "The audience of this guide is not internal.\n\n",
    "an empty value": "---\naudience:\ntitle: T\n---\n",
}


def audience(path, content: str | bytes) -> str:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    parsed = parse_file(path, LOADERS, Chunker())
    assert "nine percent" in parsed.chunks[-1].text
    return audience_of(parsed.metadata, unstated="public")


@pytest.mark.parametrize("head", MARKDOWN.values(), ids=MARKDOWN)
def test_markdown_that_says_so_in_any_form_is_internal(tmp_path, head):
    assert audience(tmp_path / "line.md", head + BODY) == "internal"


@pytest.mark.parametrize("head", PUBLIC.values(), ids=PUBLIC)
def test_markdown_that_does_not_say_so_is_public(tmp_path, head):
    assert audience(tmp_path / "line.md", head + BODY) == "public"


FRONT_MATTER = ("as documented", "behind a blank line", "behind a comment", "four dashes", "no fences", "JSON", "TOML")


@pytest.mark.parametrize("name", FRONT_MATTER)
@pytest.mark.parametrize("ending", [".txt", ".text"])
def test_so_is_plain_text(tmp_path, name, ending):
    assert audience(tmp_path / f"line{ending}", MARKDOWN[name] + WORDS) == "internal"


def page(head: str = "", body: str = "") -> str:
    return f"<!doctype html><html><head><title>T</title>{head}</head><body>{body}<p>{WORDS}</p></body></html>"


OTHERS = {
    "a meta tag": ("a.html", page('<meta name="audience" content="internal">')),
    "a meta tag in capitals": ("a.html", page('<META NAME="Audience" CONTENT="Directors">')),
    "a meta property": ("a.html", page('<meta property="dcterms:audience" content="internal">')),
    "two meta tags": (
        "a.html",
        page('<meta name="audience" content="public"><meta name="audience" content="internal">'),
    ),
    "a comment of HTML": ("a.html", page("<!-- audience: internal -->")),
    "an attribute of HTML": ("a.html", page().replace("<html>", '<html data-audience="internal">')),
    "the first line of HTML": ("a.html", page(body="<p><b>Audience:</b> internal</p>")),
    "a line of JSON": ("a.jsonl", json.dumps({"title": "T", "text": WORDS, "audience": "internal"})),
    "one of two lines of JSON": (
        "a.jsonl",
        "\n".join(json.dumps(one) for one in ({"Audience": "directors", "x": 1}, {"title": "T", "text": WORDS})),
    ),
    "JSON in JSON": ("a.ndjson", json.dumps({"title": "T", "text": WORDS, "metadata": {"AUDIENCE": "internal"}})),
    "a category in JSON": ("a.jsonl", json.dumps({"title": "T", "text": WORDS, "category": "internal"})),
    "a column": ("a.csv", f'Audience,Text\npublic,Nothing\ninternal,"{WORDS}"\n'),
    "a sheet": ("a.xlsx", xlsx({"Rates": [["Text", "Audience"], [WORDS, "directors"]]})),
    "a line of Word": ("a.docx", docx(paragraph("Audience: internal") + paragraph(WORDS))),
    "a slide": ("a.pptx", pptx(("Audience: internal", WORDS))),
    "a page": ("a.pdf", pdf(f"Audience: internal\n{WORDS}")),
    "a header of an e-mail": ("a.eml", eml(WORDS, Subject="S", Audience="internal")),
    "a line of an e-mail": ("a.eml", eml(f"Audience: internal\n\n{WORDS}", Subject="S")),
    "a book": ("a.epub", epub(page(body="<p>Audience: internal</p>"), title="B")),
}


@pytest.mark.parametrize(("name", "content"), OTHERS.values(), ids=OTHERS)
def test_every_other_format_can_say_so(tmp_path, name, content):
    assert audience(tmp_path / name, content) == "internal"


QUIET = {
    "a meta tag": ("a.html", page('<meta name="audience" content="public">')),
    "JSON": ("a.jsonl", json.dumps({"title": "T", "text": WORDS, "audience": "public"})),
    "a sheet": ("a.xlsx", xlsx({"Rates": [["Text", "Audience"], [WORDS, "Public"]]})),
    "plain text": ("a.txt", f"audience: public\n\n{WORDS}"),
}


@pytest.mark.parametrize(("name", "content"), QUIET.values(), ids=QUIET)
def test_what_says_public_is_public_in_other_formats_too(tmp_path, name, content):
    assert audience(tmp_path / name, content) == "public"


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


FOLDERS = [
    *(
        "04_internal",
        "internal_docs",
        "Internal Documents",
        "InternalDocs",
        "INTERNAL-2024",
        "Internal (HR)",
        "3. Internal",
    ),
    *("inter\u200bnal", "\u0456nternal", "INTERNA\u041b".replace("\u041b", "L"), "\uff29nternal", "\u00ednternal"),
    *("lnternal", "1nternal", "intemal", "in-ternal", "team_internal_pricing", "internal.old"),
]


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_that_says_internal_in_any_spelling_is_internal_with_all_below_it(tmp_path, folder):
    shelf = Shelf(tmp_path)
    shelf.write(f"01_regulatory/{folder}/asia/line.md", BODY)
    report = shelf.ingest()

    assert (report.files, report.internal) == (2, 1)
    [chunk] = [one for one in shelf.metadata() if one["doc_id"].endswith("line")]
    assert (chunk["category"], chunk["audience"]) == ("internal", "internal")


@pytest.mark.parametrize("folder", ["international", "interna", "external", "terminals", "intern_al_x/public"])
def test_a_folder_that_does_not_is_not(tmp_path, folder):
    shelf = Shelf(tmp_path)
    shelf.write(f"01_regulatory/{folder.replace('intern_al_x', 'x')}/line.md", BODY)

    assert shelf.ingest().internal == 0


def test_the_folder_that_is_given_may_say_so_itself(tmp_path):
    folder = tmp_path / "Internal Documents"
    folder.mkdir()
    (folder / "line.md").write_text(BODY)

    assert Shelf(tmp_path).ingest(folder).internal == 1


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
