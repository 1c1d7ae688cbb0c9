"""Markers of citations: how they are found, matched with passages, numbered and linked."""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from chains.citations.markers import MarkerBuffer, code_ranges, find_markers
from chains.citations.name_matching import dice, similarity
from chains.citations.numbering import NumberedMarkers, TitledMarkers, number_markers, rewrite
from chains.citations.references import read_references
from tests.chains.citations.desk import SHOWN, found, passage, read
from tests.chains.citations.test_kinds import BOOKSHELF, KEPT, TRAPS, cited


@pytest.mark.parametrize(
    "marker",
    [
        *("[GST Guide > Import GST]", "[gst guide > import gst]", "[GST Guide  >  Import GST]"),
        *("[Cite: GST Guide > Import GST]", "[Cited from GST Guide > Import GST]"),
        *("[Source: GST Guide > Import GST]", "【GST Guide > Import GST】", "[GST Guide &gt; Import GST]"),
        *("[GST Guide → Import GST]", "[GST Guide – Import GST]", "[GST Guide › Import GST]"),
        *("[GST Guide > Overview > Import GST]", "[**GST Guide** > Import GST]", "[GST Guid > Import GST]"),
    ],
)
def test_a_marker_is_understood_as_models_write_it(marker):
    assert found(f"It is 9 % {marker}.") == [(marker, "gst_guide", "Import GST")]


def test_several_in_one_bracket_are_several_citations():
    answer = "It is so [GST Guide > Import GST; Certificates of Origin > Form D]."
    assert found(answer) == [
        ("GST Guide > Import GST", "gst_guide", "Import GST"),
        ("Certificates of Origin > Form D", "certificates_of_origin", "Form D"),
    ]


def test_a_heading_above_the_section_is_right_as_well():
    assert found("So [Certificates of Origin > Preferential].")[0][1] == "certificates_of_origin"


def test_an_invented_section_matches_the_document_without_a_section():
    assert found("So [GST Guide > Penalties for smugglers].") == [
        ("[GST Guide > Penalties for smugglers]", "gst_guide", None)
    ]


@pytest.mark.parametrize(
    "marker",
    ["[Customs Act > Import GST]", "[Cite: Customs Act]", "[GST Rules > Rate]", "[Certificates of Insurance > Form D]"],
)
def test_an_invented_title_matches_nothing_and_gives_no_link(marker):
    [citation] = read(f"It is so {marker}.", min_citations=0, attribution=False)["citations"]
    assert (citation["matched"], citation["doc_id"], citation["source_urls"]) == (False, None, [])


@pytest.mark.parametrize(
    "text",
    [
        *("[9]", "[2024]", "[sic]", "[text](https://example.org)", "[GST Guide](https://example.org)"),
        *("![GST Guide](picture.png)", "- [x] GST Guide", "- [ ] done", "arr[0]", "[^1]", "[A-Z]", "[GST]"),
        *("[import]", "`[GST Guide > Import GST]`", "``a ` [GST Guide]``", "```\n[GST Guide > Import GST]\n```"),
        *("[]", "[ > ]", "[5 > 3]", r"\[GST Guide\]", "[GST Guide", "[GST\n\nGuide]"),
    ],
)
def test_what_is_no_citation_is_left_alone(text):
    assert found(f"Words.\n\n{text}") == []


@pytest.mark.parametrize(
    ("written", "actual", "tier"),
    [
        ("GST Guide", "gst  guide", "equal"),
        ("GST Guide", "Singapore GST Guide for Imports", "contained"),
        ("Singapor Import Procedure", "Singapore Import Procedures", "alike"),
        ("Malaysia Import Requirements", "Indonesia Import Requirements", "none"),
        ("a", "a title with an a", "none"),
        ("", "GST Guide", "none"),
        ("GST Guide", "", "none"),
        ("port", "Import Guide", "none"),
    ],
)
def test_titles_match_in_three_tiers(written, actual, tier):
    score = similarity(written, actual)
    tiers = {"equal": score == 1, "contained": 0.7 <= score < 1, "alike": 0 < score < 0.7, "none": score == 0}
    assert [name for name, holds in tiers.items() if holds] == [tier]


def test_dice_counts_shared_character_bigrams():
    assert dice("night", "nacht") == 2 * 1 / (4 + 4)
    assert (dice("", ""), dice("a", "a"), dice("a", "b")) == (0.0, 1.0, 0.0)


def test_the_best_title_wins_not_the_first():
    shown = [passage("Incoterms 2020 Quick Comparison"), passage("Incoterms 2020 Reference")]
    assert read_references("[Incoterms 2020 Reference]", shown)[0][0].passage is shown[1]


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
@given(TEXTS)
def test_a_marker_is_never_shown_half(text):
    rewriter, shown = MarkerBuffer(), ""
    for character in text:
        shown += rewriter.feed(character)
        for marker in find_markers(text) if "\\" not in text else []:  # An escaped bracket is text, and may be shown.
            assert len(shown) <= marker.start or len(shown) >= marker.end
    assert shown + rewriter.flush() == text


@given(TEXTS, st.sampled_from(["title", "numbered"]))
@example(r"[a \[b] c", "title")
@example("[9]a", "numbered")
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


@given(TEXTS)
def test_settled_numbers_stay_as_they_are(text):
    assume("`" not in text or "9" not in text)  # A number that goes may join the backticks around it into others.
    once, cited = number_markers(text, SHOWN)
    assert number_markers(once, cited)[0] == once


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


SITE = "https://www.customs.gov.sg/permits"
LINKS = [
    f"See the [Singapore Customs site][1] first.\n\n[1]: {SITE}",
    f"See the [Singapore Customs site][9] first.\n\n[9]: {SITE}",
    f"See the [Singapore Customs site][customs] first.\n\n[customs]: {SITE}",
    f"See the [Singapore Customs site][] first.\n\n[Singapore Customs site]: {SITE}",
    f'See the [Singapore Customs site][2] first.\n\n[2]: <{SITE}> "Permits"',
    "See the [list of permits][1] and the [tariff][2] first.\n\n[1]: /docs/permits.html\n[2]: ../tariff.html",
    f"See ![the logo][1] first.\n\n[1]: {SITE}/logo.png",
    f"- [Customs][1]\n- [TradeNet][3]\n\n[1]: {SITE}\n[3]: https://www.tradenet.gov.sg",
    f"See the **[Singapore Customs site][1]**, then ask.\n\n[1]: {SITE}",
    f"See [Overview: what to file > when][1].\n\n[1]: {SITE}",
]
MIXED = [
    (f"{KEPT[:-1]} [2]. See the [site][a].\n\n[a]: {SITE}", "[a]", "terms"),
    (f"{KEPT[:-1]} [2]. See the [site][1].\n\n[1]: {SITE}", "[site][1]", "terms"),
    (f"See the [site][5]. {KEPT[:-1]} [2].\n\n[5]: {SITE}", "[site][5]", "terms"),
]
NO_FILES = ["[thai_import.md#laos-permits-2010]", "[laos_import Required Documents]", "[import.md, Required Documents]"]
AMBIGUOUS = ["[Overview]", "[Cite: Overview]", "[Source: Overview]", "[Section: Overview]"]


def written(answer: str, style: str) -> str:
    markers = NumberedMarkers(BOOKSHELF) if style == "numbered" else TitledMarkers(BOOKSHELF)
    return rewrite(answer, markers)


@pytest.mark.parametrize("style", ["title", "numbered"])
@pytest.mark.parametrize("answer", LINKS)
def test_a_reference_link_with_its_definition_is_left_as_it_is_and_cites_nothing(answer, style):
    reading = read(answer, BOOKSHELF, style=style, min_citations=0, attribution=False)

    assert (reading["replacement"] or written(answer, style)) == answer
    assert [c["raw"] for c in reading["citations"]] == []


@pytest.mark.parametrize("style", ["title", "numbered"])
@pytest.mark.parametrize(("answer", "link", "doc_id"), MIXED)
def test_a_citation_beside_a_reference_link_is_read_and_the_link_stays(answer, link, doc_id, style):
    reading = read(answer, BOOKSHELF, style=style, min_citations=0, attribution=False)

    assert link in (reading["replacement"] or written(answer, style))
    assert [c["doc_id"] for c in reading["citations"]] == [doc_id]


def test_a_file_and_a_section_with_a_semicolon_between_are_two_citations_of_one_document():
    found = cited(f"{KEPT[:-1]} [thai_import.md; Required Documents].")
    assert [(doc_id, section) for _, doc_id, section in found] == [
        ("thai_import", None),
        ("thai_import", "Required Documents"),
    ]


@pytest.mark.parametrize("marker", NO_FILES)
def test_a_file_or_section_that_was_not_shown_names_no_section(marker):
    assert [section for _, _, section in cited(f"{KEPT[:-1]} {marker}.") if section] == []


@pytest.mark.parametrize("marker", AMBIGUOUS)
def test_a_section_of_several_documents_is_listed_and_matches_none(marker):
    answer = f"Elephants fly to the moon on Sundays {marker}."
    [citation] = read(answer, BOOKSHELF, min_citations=0, attribution=False)["citations"]

    assert (citation["raw"], citation["matched"], citation["doc_id"]) == (marker, False, None)
    assert citation["source_urls"] == []


@pytest.mark.parametrize("style", ["title", "numbered"])
@pytest.mark.parametrize("trap", [trap for traps in TRAPS.values() for trap in traps if trap not in {"[99]"}])
def test_what_names_nothing_that_was_shown_matches_nothing_and_stays_where_it_stood(trap, style):
    answer = f"{KEPT[:-1]} {trap}."
    reading = read(answer, BOOKSHELF, style=style, min_citations=0, attribution=False)

    assert (reading["replacement"] or written(answer, style)) == answer
    assert all(answer[c["start"] : c["end"]] == c["raw"] for c in reading["citations"])
    assert not any(citation["matched"] for citation in reading["citations"])


def test_a_citation_before_a_footnote_is_no_link():
    answer = f"{KEPT[:-1]} [Service Terms and Conditions][^1].\n\n[^1]: faq.md"
    assert [raw for raw, _, _ in cited(answer)] == ["[Service Terms and Conditions]", "[^1]"]


@pytest.mark.parametrize("style", ["title", "numbered"])
def test_two_numbers_side_by_side_are_citations_though_a_list_says_where_they_lead(style):
    answer = f"{KEPT[:-1]} [2][1].\n\n[1]: https://example.org/a\n[2]: https://example.org/b"
    reading = read(answer, BOOKSHELF, style=style, min_citations=0, attribution=False)
    assert [c["doc_id"] for c in reading["citations"]][:2] == ["terms", "gst_guide"]
