from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from chains.citations import CiteSources, format_citations_markdown
from chains.citations.cite import read_references
from chains.citations.code import code_ranges
from chains.citations.decline import is_decline
from chains.citations.markers import find_markers
from chains.citations.matching import dice, likeness
from chains.citations.numbering import NumberedMarkers, number_markers
from chains.citations.streaming import WholeMarkers
from chains.state import Context, Generated, Passage, Reading

GST = "Import GST in Singapore is 9 % of the CIF value plus duty. The relief limit is S$400 for goods by air or post."
FORM = "A Form D proves ASEAN origin. It needs a regional value content of 40 %."


def passage(title: str, section: str = "", content: str = "", **metadata: Any) -> Passage:
    name = title.lower().replace(" ", "_")
    return Passage(
        content=content, metadata={"title": title, "section": section, "doc_id": name, **metadata}, score=0.5
    )


SHOWN = [
    passage("GST Guide", "Import GST", GST, source_urls='["https://example.org/a,b", "N/A"]'),
    passage("GST Guide", "Reliefs", "Trade samples without value are exempt from import GST.", source_urls="N/A"),
    passage("Certificates of Origin", "Form D", FORM, section_path='["Preferential", "Form D"]'),
    passage("PIL [Pacific] Service Guide", "Reefer Containers", "PIL offers reefer containers for frozen goods."),
]


def read(answer: str, shown: list[Passage] | None = None, **options: Any) -> Reading:
    kept = SHOWN if shown is None else shown
    cite = CiteSources(**options)
    words = number_markers(answer, kept)[0] if cite.style == "numbered" else answer
    return cite(
        Generated(
            question="Q?",
            documents=kept,
            context=Context(text="", passages=kept),
            message=AIMessage(answer),
            answer=words,
        )
    )


def found(answer: str) -> list[tuple[str, str | None, str | None]]:
    citations = read(answer, repair=False, min_citations=0)["citations"]
    return [(c["raw"], c["doc_id"], c["section"]) for c in citations]


@pytest.mark.parametrize(
    "marker",
    [
        "[GST Guide > Import GST]",
        "[gst guide > import gst]",
        "[GST Guide  >  Import GST]",
        "[Cite: GST Guide > Import GST]",
        "[Cited from GST Guide > Import GST]",
        "[Source: GST Guide > Import GST]",
        "【GST Guide > Import GST】",
        "[GST Guide &gt; Import GST]",
        "[GST Guide → Import GST]",
        "[GST Guide – Import GST]",
        "[GST Guide › Import GST]",
        "[GST Guide > Overview > Import GST]",
        "[**GST Guide** > Import GST]",
        "[GST Guid > Import GST]",
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
    citations = read("A [GST Guide > Import GST]. B [GST Guide > Reliefs].", repair=False)["citations"]
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
    [citation] = read(f"It is so {marker}.", min_citations=0, repair=False)["citations"]
    assert (citation["matched"], citation["doc_id"], citation["source_urls"]) == (False, None, [])


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        "[2024]",
        "[sic]",
        "[text](https://example.org)",
        "[GST Guide](https://example.org)",
        "![GST Guide](picture.png)",
        "- [x] GST Guide",
        "- [ ] done",
        "arr[0]",
        "[^1]",
        "[A-Z]",
        "[GST]",
        "[import]",
        "`[GST Guide > Import GST]`",
        "``a ` [GST Guide]``",
        "```\n[GST Guide > Import GST]\n```",
        "[]",
        "[ > ]",
        "[5 > 3]",
        r"\[GST Guide\]",
        "[GST Guide",
        "[GST\n\nGuide]",
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
    score = likeness(written, actual)
    tiers = {"equal": score == 1, "contained": 0.7 <= score < 1, "alike": 0 < score < 0.7, "none": score == 0}
    assert [name for name, holds in tiers.items() if holds] == [tier]


def test_dice_counts_shared_character_bigrams():
    assert dice("night", "nacht") == 2 * 1 / (4 + 4)
    assert (dice("", ""), dice("a", "a"), dice("a", "b")) == (0.0, 1.0, 0.0)


def test_the_best_title_wins_not_the_first():
    shown = [passage("Incoterms 2020 Quick Comparison"), passage("Incoterms 2020 Reference")]
    assert read_references("[Incoterms 2020 Reference]", shown)[0].passage is shown[1]


def test_urls_come_from_the_list_and_only_http_counts():
    reading = read("It is 9 % [GST Guide > Import GST].")
    assert reading["citations"][0]["source_urls"] == ["https://example.org/a,b"]
    assert [source["url"] for source in reading["sources"]] == ["https://example.org/a,b"]


def test_sources_are_unique_by_url():
    reading = read("It is 9 % [GST Guide > Import GST]. It is so [GST Guide > Import GST].")
    assert len(reading["citations"]) == 2
    assert len(reading["sources"]) == 1


def test_the_markdown_list_links_external_and_names_internal_documents():
    reading = read("It is 9 % [GST Guide > Import GST]. It needs 40 % [Certificates of Origin > Form D].")
    assert format_citations_markdown(reading["citations"]) == (
        "1. [GST Guide > Import GST](https://example.org/a,b)\n2. Certificates of Origin > Form D *(Internal Document)*"
    )


def test_support_and_quote_come_from_the_words_of_the_chunk():
    [right, wrong] = read(
        "Import GST in Singapore is 9 % of the CIF value [GST Guide > Import GST]. "
        "Elephants may be kept as pets on ships [Certificates of Origin > Form D].",
        repair=False,
    )["citations"]
    assert right["support"] > 0.9
    assert right["quote"] in GST
    assert "9 % of the CIF value" in right["quote"]
    assert wrong["support"] < 0.2


def test_the_chunk_that_carries_the_sentence_is_chosen_among_those_of_the_document():
    [citation] = read("Trade samples without value are exempt from import GST [GST Guide].")["citations"]
    assert citation["quote"] == "Trade samples without value are exempt from import GST."


def test_a_citation_whose_chunk_says_another_number_is_contradicted_and_not_matched():
    reading = read("Import GST in Singapore is 7 % of the CIF value plus duty [GST Guide > Import GST].")
    assert reading["outcome"] == "ungrounded"
    kept = read("Import GST in Singapore is 7 % of the CIF value plus duty [GST Guide > Import GST].", min_citations=0)
    [citation] = kept["citations"]
    assert (citation["contradicted"], citation["matched"], citation["source_urls"]) == (True, False, [])


def test_a_sentence_without_citation_gets_the_passage_that_carries_it_as_data():
    answer = "The relief limit is S$400 for goods by air or post. It is 9 % [GST Guide > Import GST]."
    [attributed, marked] = read(answer)["citations"]
    assert attributed["attributed"]
    assert attributed["raw"] == answer[attributed["start"] : attributed["end"]]
    assert attributed["raw"] == "The relief limit is S$400 for goods by air or post."
    assert attributed["number"] is None
    assert not marked["attributed"]


def test_repair_can_be_turned_off_and_never_guesses():
    answer = "The relief limit is S$400 for goods by air or post. It is 9 % [GST Guide > Import GST]."
    assert len(read(answer, repair=False)["citations"]) == 1
    other = "Elephants may be kept as pets on ships of any flag. It is 9 % [GST Guide > Import GST]."
    assert [c["attributed"] for c in read(other)["citations"]] == [False]


def test_a_marker_that_stands_alone_stands_on_what_is_above_it():
    items = "- The relief limit is S$400 for goods by air or post\n- By sea there is none"
    answer = f"The limit:\n\n{items}\n\n[GST Guide > Import GST]"
    [citation] = [c for c in read(answer)["citations"] if not c["attributed"]]
    assert citation["support"] > 0.9


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("It is 9 % [GST Guide > Import GST].", "answered"),
        ("It is 9 %.", "ungrounded"),
        ("It is 9 % [Customs Act > Import GST].", "ungrounded"),
        ("", "ungrounded"),
        ("I don’t have specific information about that in the documents I can see.", "declined"),
        ("The documents do not contain the fee [GST Guide].", "declined"),
        ("There is no information about fees.", "declined"),
        ("I could not find a fee in the sources.", "declined"),
        ("The fee is not mentioned in the provided documents.", "declined"),
        ("The documents do not name a fee. Import GST is 9 % [GST Guide > Import GST].", "answered"),
        ("We do not sail on Mondays [PIL [Pacific] Service Guide].", "answered"),
    ],
)
def test_the_outcome_follows_from_the_words_and_the_citations(answer, outcome):
    assert read(answer, repair=False)["outcome"] == outcome


def test_what_the_passage_itself_denies_is_an_answer():
    shown = [passage("Terms", "Quotes", "Our quoted documents do not include duty or GST unless DDP is agreed.")]
    answer = "Our quoted documents do not include duty or GST unless DDP is agreed [Terms > Quotes]."
    assert read(answer, shown)["outcome"] == "answered"


def test_min_citations_asks_for_more():
    answer = "It is 9 % [GST Guide > Import GST]."
    assert read(answer, min_citations=2, repair=False)["outcome"] == "ungrounded"
    assert read(answer, min_citations=2, repair=False)["citations"] == []


def test_a_decline_loses_its_markers_and_keeps_its_lines():
    reading = read("The documents do not contain fees [GST Guide].\n\nAsk the desk.", repair=False)
    assert reading["replacement"] == "The documents do not contain fees.\n\nAsk the desk."


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
        "[1]",
        "[9]",
        "[1, 3]",
        "[2-4]",
        "[Source 2]",
        "【2】",
        "[",
        "]",
        "(",
        ")",
        "http://x",
        ",",
        " ",
        ".",
        " and ",
        "\n",
    ]
    + ["\n\n", "`", "``", "```", "~~~", "\\", ":", "a", "arr", "[GST Guide > Import GST]", "[GST", "Guide]", "é", "**"]
)
TEXTS = st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=60)


@settings(deadline=None, max_examples=500)
@given(TEXTS, st.lists(st.integers(1, 7), max_size=80), st.booleans())
def test_any_way_of_cutting_an_answer_into_tokens_gives_the_same_text(text, cuts, numbered):
    def shown(pieces: list[str]) -> str:
        marking = NumberedMarkers(SHOWN) if numbered else WholeMarkers()
        return "".join(map(marking.feed, pieces)) + marking.flush()

    pieces, rest = [], text
    for cut in cuts:
        pieces.append(rest[:cut])
        rest = rest[cut:]
    assert shown([*pieces, rest]) == shown([text]) == shown(list(text))
    if not numbered:
        assert shown([text]) == text


@settings(deadline=None, max_examples=300)
@given(TEXTS)
def test_a_marker_is_never_shown_half(text):
    marking, shown = WholeMarkers(), ""
    for character in text:
        shown += marking.feed(character)
        for marker in find_markers(text) if "\\" not in text else []:  # An escaped bracket is text, and may be shown.
            assert len(shown) <= marker.start or len(shown) >= marker.end
    assert shown + marking.flush() == text


@settings(deadline=None, max_examples=500)
@given(TEXTS, st.sampled_from(["title", "numbered"]))
def test_reading_never_fails_and_its_offsets_and_quotes_are_true(text, style):
    words = number_markers(text, SHOWN)[0] if style == "numbered" else text
    reading = read(text, style=style, min_citations=0)
    contents = {p["metadata"]["doc_id"]: p["content"] for p in SHOWN}
    for citation in reading["citations"]:
        assert words[citation["start"] : citation["end"]] == citation["raw"]
        assert 0 <= citation["support"] <= 1
        if citation["matched"]:
            assert any(
                citation["quote"] in p["content"] for p in SHOWN if p["metadata"]["doc_id"] == citation["doc_id"]
            )
            assert citation["doc_id"] in contents


@settings(deadline=None, max_examples=300)
@given(TEXTS)
def test_settled_numbers_stay_as_they_are(text):
    once, cited = number_markers(text, SHOWN)
    assert number_markers(once, cited)[0].split() == once.split() or "[" in text


@settings(deadline=None, max_examples=300)
@given(TEXTS)
def test_code_is_found_where_it_is(text):
    for start, end in code_ranges(text):
        assert 0 <= start < end <= len(text)


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "unit",
    ["[", "]", "[a", "[a > b]", "[[a]]", "`", "` [", "[a](", "[a](b ", "【", "\\[", "> [", "- [x]\n", "[1, ", "``` "],
)
def test_a_long_answer_of_brackets_is_read_to_its_end(unit):
    text = unit * (100_000 // len(unit))
    number_markers(text, SHOWN)
    assert all(0 <= reference.start < reference.end <= len(text) for reference in read_references(text, SHOWN))


def test_the_decline_rule_reads_the_opening_only():
    assert not is_decline("A" * 150 + ". The documents do not contain more.", [])
    assert is_decline("The documents do not contain more.", [])
