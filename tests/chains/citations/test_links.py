"""Reference links beside citations, files with a section, sections of several documents, and notes of whole paths."""

import pytest

from chains.citations.numbering import NumberedMarkers, TitledMarkers, rewrite
from tests.chains.citations.desk import read
from tests.chains.citations.test_kinds import KEPT, SHOWN, TRAPS, cited, read_numbered

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
FILES: list[tuple[str, str, str | None]] = [
    ("[thai_import.md#required-documents]", "thai_import", "Required Documents"),
    ("[thai_import.md#Required Documents]", "thai_import", "Required Documents"),
    ("[thai_import.md, Required Documents]", "thai_import", "Required Documents"),
    ("[thai_import.md (Required Documents)]", "thai_import", "Required Documents"),
    ("[thai_import.md – Required Documents]", "thai_import", "Required Documents"),
    ("[thai_import.md § Required Documents]", "thai_import", "Required Documents"),
    ("[thai_import > Required Documents]", "thai_import", "Required Documents"),
    ("[thai_import: Required Documents]", "thai_import", "Required Documents"),
    ("[thai_import Required Documents]", "thai_import", "Required Documents"),
    ("[File: terms.md, Section 6.3]", "terms", "6.3 Cargo Insurance"),
    ("[terms.md 6.3 Cargo Insurance]", "terms", "6.3 Cargo Insurance"),
    ("[general-regulations.pdf p.5]", "regulations", "Exams"),
    ("[general-regulations.pdf page 6]", "regulations", "Exams"),
    ("[kb/docs/general-regulations.pdf#page=5]", "regulations", "Exams"),
    ("[sla.md, section 5.1: Standard Delivery Commitments]", "sla", "5.1 Standard Delivery Commitments"),
]
NO_FILES = ["[thai_import.md#laos-permits-2010]", "[laos_import Required Documents]", "[import.md, Required Documents]"]
AMBIGUOUS = ["[Overview]", "[Cite: Overview]", "[Source: Overview]", "[Section: Overview]"]
PATHS = [
    "[^1]: Service Terms and Conditions > 6 Liability > 6.3 Cargo Insurance",
    "[^1]: Service Terms and Conditions > 6.3 Cargo Insurance",
    "[^1]: [Service Terms and Conditions > 6 Liability > 6.3 Cargo Insurance]",
    "[^1]: *Service Terms and Conditions* > 6.3 Cargo Insurance.",
    "[^1]: terms.md > 6.3 Cargo Insurance",
    "[^ins]: Service Terms and Conditions > 6.3 Cargo Insurance",
]


def written(answer: str, style: str) -> str:
    markers = NumberedMarkers(SHOWN) if style == "numbered" else TitledMarkers(SHOWN)
    return rewrite(answer, markers)


@pytest.mark.parametrize("style", ["title", "numbered"])
@pytest.mark.parametrize("answer", LINKS)
def test_a_reference_link_with_its_definition_is_left_as_it_is_and_cites_nothing(answer, style):
    reading = read(answer, SHOWN, style=style, min_citations=0, attribution=False)

    assert (reading["replacement"] or written(answer, style)) == answer
    assert [c["raw"] for c in reading["citations"]] == []


@pytest.mark.parametrize("style", ["title", "numbered"])
@pytest.mark.parametrize(("answer", "link", "doc_id"), MIXED)
def test_a_citation_beside_a_reference_link_is_read_and_the_link_stays(answer, link, doc_id, style):
    reading = read(answer, SHOWN, style=style, min_citations=0, attribution=False)

    assert link in (reading["replacement"] or written(answer, style))
    assert [c["doc_id"] for c in reading["citations"]] == [doc_id]


@pytest.mark.parametrize(("marker", "doc_id", "section"), FILES)
def test_a_file_with_a_section_names_its_passage(marker, doc_id, section):
    assert cited(f"{KEPT[:-1]} {marker}.") == [(marker, doc_id, section)]


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
    [citation] = read(answer, SHOWN, min_citations=0, attribution=False)["citations"]

    assert (citation["raw"], citation["matched"], citation["doc_id"]) == (marker, False, None)
    assert citation["source_urls"] == []


@pytest.mark.parametrize("read_style", [cited, read_numbered])
@pytest.mark.parametrize("note", PATHS)
def test_a_footnote_with_a_whole_path_names_its_passage_in_both_styles(note, read_style):
    label = note.partition(":")[0]
    assert read_style(f"{KEPT}{label} It is so.\n\n{note}\n") == [(label, "terms", "6.3 Cargo Insurance")]


@pytest.mark.parametrize("style", ["title", "numbered"])
@pytest.mark.parametrize("trap", [trap for traps in TRAPS.values() for trap in traps if trap not in {"[99]"}])
def test_what_names_nothing_stays_in_the_text_where_it_stood(trap, style):
    answer = f"{KEPT[:-1]} {trap}."
    reading = read(answer, SHOWN, style=style, min_citations=0, attribution=False)

    assert (reading["replacement"] or written(answer, style)) == answer
    assert all(answer[c["start"] : c["end"]] == c["raw"] for c in reading["citations"])


def test_a_citation_before_a_footnote_is_no_link():
    answer = f"{KEPT[:-1]} [Service Terms and Conditions][^1].\n\n[^1]: faq.md"
    assert [raw for raw, _, _ in cited(answer)] == ["[Service Terms and Conditions]", "[^1]"]


@pytest.mark.parametrize("style", ["title", "numbered"])
def test_two_numbers_side_by_side_are_citations_though_a_list_says_where_they_lead(style):
    answer = f"{KEPT[:-1]} [2][1].\n\n[1]: https://example.org/a\n[2]: https://example.org/b"
    reading = read(answer, SHOWN, style=style, min_citations=0, attribution=False)
    assert [c["doc_id"] for c in reading["citations"]][:2] == ["terms", "gst_guide"]
