import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from chains.citations.markers import MarkerBuffer, code_ranges, find_markers
from chains.citations.numbering import NumberedMarkers, TitledMarkers, number_markers, rewrite
from chains.citations.references import read_references
from tests.chains.citations.desk import SHOWN, read


def test_numbered_markers_get_support_and_the_model_rank_does_not_matter():
    citations = read("It needs 40 % regional value content [3]. GST is 9 % of the CIF value [1].", style="numbered")[
        "citations"
    ]
    assert [(c["raw"], c["number"], c["doc_id"]) for c in citations] == [
        ("[1]", 1, "certificates_of_origin"),
        ("[2]", 2, "gst_guide"),
    ]
    assert all(citation["support"] > 0.5 for citation in citations)


@pytest.mark.parametrize(
    ("written", "settled"),
    [
        ("X [1, 3].", "X [1][2]."),
        ("X [1-3].", "X [1][2]."),
        ("X [Source 2] and [Sources 3, 4].", "X [1] and [2][3]."),
        ("X 【1】.", "X [1]."),
        ("X [1][1], [2].", "X [1]."),
        ("X [9]. Y [1].", "X. Y [1]."),
        ("[9] X", "X"),
        ("X [9] Y", "X Y"),
        ("X [9], [1].", "X [1]."),
        (
            "customs[3] arr[0] arr[1] [2024] [^1] [1](https://x.org)",
            "customs[1] arr[0] arr[1] [2024] [^1] [1](https://x.org)",
        ),
        ("`[1]`\n\n```\n[1]\n```\n[3]", "`[1]`\n\n```\n[1]\n```\n[1]"),
    ],
)
def test_numbered_markers_are_settled_as_they_are_read(written, settled):
    assert number_markers(written, SHOWN)[0] == settled


PIECES = st.sampled_from(
    [
        *("[1]", "[9]", "[1, 3]", "[2-4]", "[Source 2]", "【2】", "[", "]", "(", ")", "http://x", ",", " ", "."),
        *(" and ", "\n"),
    ]
    + ["\n\n", "`", "``", "```", "~~~", "\\", ":", "a", "arr", "[GST Guide > Import GST]", "[GST", "Guide]", "é", "**"]
)
TEXTS = st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=60)


@settings(deadline=None, max_examples=200)
@given(TEXTS, st.lists(st.integers(1, 7), max_size=80), st.booleans())
def test_any_way_of_cutting_an_answer_into_tokens_gives_the_same_text(text, cuts, numbered):
    def shown(pieces: list[str]) -> str:
        rewriter = NumberedMarkers(SHOWN) if numbered else MarkerBuffer()
        return "".join(map(rewriter.feed, pieces)) + rewriter.flush()

    pieces, rest = [], text
    for cut in cuts:
        pieces.append(rest[:cut])
        rest = rest[cut:]
    assert shown([*pieces, rest]) == shown([text]) == shown(list(text))
    if not numbered:
        assert shown([text]) == text


@example("[GST`Guide]`Guide]")
@settings(deadline=None, max_examples=200)
@given(TEXTS)
def test_a_marker_is_never_shown_half(text):
    rewriter, shown = MarkerBuffer(), ""
    for character in text:
        shown += rewriter.feed(character)
        for marker in find_markers(text) if "\\" not in text else []:  # An escaped bracket is text, and may be shown.
            assert len(shown) <= marker.start or len(shown) >= marker.end
    assert shown + rewriter.flush() == text


@settings(deadline=None, max_examples=200)
@given(TEXTS, st.sampled_from(["title", "numbered"]))
def test_reading_never_fails_and_its_offsets_and_quotes_are_true(text, style):
    words = rewrite(text, (NumberedMarkers if style == "numbered" else TitledMarkers)(SHOWN))
    reading = read(text, style=style, min_citations=0)
    words = reading["replacement"] or words
    contents = {p["metadata"]["doc_id"]: p["content"] for p in SHOWN}
    for citation in reading["citations"]:
        assert words[citation["start"] : citation["end"]] == citation["raw"]
        assert 0 <= citation["support"] <= 1
        if citation["matched"]:
            assert any(
                citation["quote"] in p["content"] for p in SHOWN if p["metadata"]["doc_id"] == citation["doc_id"]
            )
            assert citation["doc_id"] in contents


@settings(deadline=None, max_examples=200)
@given(TEXTS)
def test_settled_numbers_stay_as_they_are(text):
    assume("`" not in text or "9" not in text)  # A number that goes may join the backticks around it into others.
    once, cited = number_markers(text, SHOWN)
    assert number_markers(once, cited)[0] == once


@settings(deadline=None, max_examples=200)
@given(TEXTS)
def test_code_is_found_where_it_is(text):
    for start, end in code_ranges(text):
        assert 0 <= start < end <= len(text)


@pytest.mark.parametrize(
    "unit",
    [
        *("[", "]", "[a", "[a > b]", "[[a]]", "`", "` [", "[a](", "[a](b ", "【", "\\[", "> [", "- [x]\n", "[1, "),
        *("``` ", "[1] a\n", "[^1]: a\n", "[^1]", r"\[1\] "),
    ],
)
def test_a_long_answer_of_brackets_is_read_to_its_end(unit):
    text = unit * (20_000 // len(unit))
    number_markers(text, SHOWN)
    assert all(0 <= reference.start < reference.end <= len(text) for reference in read_references(text, SHOWN)[0])
