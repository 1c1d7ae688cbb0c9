import pytest

from chains.citations.name_matching import dice, similarity
from chains.citations.references import read_references
from tests.chains.citations.desk import found, passage, read


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


def test_two_sections_of_one_document_are_two_citations():
    citations = read("A [GST Guide > Import GST]. B [GST Guide > Reliefs].", attribution=False, min_citations=0)[
        "citations"
    ]
    assert [(c["section"], c["number"]) for c in citations] == [("Import GST", 1), ("Reliefs", 2)]


@pytest.mark.parametrize("marker", [r"[PIL \[Pacific\] Service Guide]", "[PIL [Pacific] Service Guide]"])
def test_a_title_may_hold_brackets(marker):
    assert found(f"Yes {marker}.") == [(marker, "pil_[pacific]_service_guide", None)]


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
