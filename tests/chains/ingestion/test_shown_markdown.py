"""Comments and struck-out words of a Markdown text are left out and named; its HTML tables are tables."""

import pytest

from chains.ingestion.text_files import load_markdown, shown_markdown


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


@pytest.mark.parametrize(
    "text",
    ["`~~a~~`", "```\n<!-- a -->\n~~b~~\n```\n", "~~~\n<table></table>\n~~~\n", "a ~~ b ~~ c", "\\~~a~~", "5%% of 6%%"],
)
def test_code_and_single_marks_stay(text):
    assert shown_markdown(text) == (text, ())


def test_a_comment_that_says_who_may_read_the_text_stays():
    assert "audience: staff" in shown_markdown("<!-- audience: staff -->\n\nText.")[0]


def test_an_html_table_is_a_table():
    html = "<table>\n<tr><th>Port<th>Fee</tr>\n\n<tr><td rowspan=2>Tema<td>3</tr><tr><td>4</tr></table>"
    assert "| Port | Fee |\n| --- | --- |\n| Tema | 3 |\n| Tema | 4 |" in shown_markdown(f"# Fees\n{html}\nEnd.")[0]


def test_a_comment_in_code_is_no_title(tmp_path):
    file = tmp_path / "notes.md"
    file.write_text("```sh\n# install it\n```\n\nTool Guide\n==========\n\nText.\n")
    assert load_markdown(file).metadata["title"] == "Tool Guide"
