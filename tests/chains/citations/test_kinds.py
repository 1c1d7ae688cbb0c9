"""Every way in which models write a citation, with traps beside it: what looks like one and names nothing shown."""

from typing import Any

import pytest

from chains.citations.markers import find_markers
from chains.citations.references import read_notes
from chains.citations.titles import read_titles
from chains.state import Passage
from tests.chains.citations.desk import read

KEPT = "Cargo insurance covers 110 % of the invoice value."


def passage(doc_id: str, title: str, section: str, **metadata: object) -> Passage:
    known = {"doc_id": doc_id, "title": title, "section": section, "file_path": f"kb/{doc_id}.md"}
    return Passage(content=f"About {section} in {title}. {KEPT}", metadata=known | metadata, score=0.5)


BOOKSHELF = [
    passage("gst_guide", "Singapore GST Guide for Imports", "Duties & Taxes"),
    passage("terms", "Service Terms and Conditions", "6.3 Cargo Insurance", section_path=["6 Liability", "6.3 Cargo"]),
    passage("terms", "Service Terms and Conditions", "16.3 Notices"),
    passage("sla", "Service Level Agreement (SLA) Policy", "5.1 Standard Delivery Commitments"),
    passage("faq", "Frequently Asked Questions", "Overview"),
    passage("pil", "PIL [Pacific] Service Guide", 'Section 4: "Reefer" Rates'),
    passage("thai_import", "Thailand Import Requirements", "Required Documents"),
    passage("vietnam_import", "Vietnam Import Requirements", "Certificate of Origin"),
    passage("vietnam_import", "Vietnam Import Requirements", "Overview"),
    passage("booking", "Sea Freight Booking Procedure", "Cut-off Times", section_path='["Booking", "Cut-off Times"]'),
    passage("incoterms", "Incoterms 2020 Reference", "FOB [Free on Board]"),
    passage("regulations", "General Regulations", "Exams", file_path="kb/docs/general-regulations.pdf", page=5),
    passage("regulations", "General Regulations", "Exams", file_path="kb/docs/general-regulations.pdf", page=6),
]

RIGHT: dict[str, list[tuple[str, str, str | None]]] = {
    "entities": [
        ("[Singapore GST Guide for Imports > Duties &amp; Taxes]", "gst_guide", "Duties & Taxes"),
        ("[Singapore GST Guide for Imports &gt; Duties &amp; Taxes]", "gst_guide", "Duties & Taxes"),
        ("[Singapore GST Guide for Imports > Duties &#38; Taxes]", "gst_guide", "Duties & Taxes"),
        ("[Singapore GST Guide for Imports > Duties and Taxes]", "gst_guide", "Duties & Taxes"),
        ("[PIL [Pacific] Service Guide > Section 4: &quot;Reefer&quot; Rates]", "pil", 'Section 4: "Reefer" Rates'),
        ("[PIL &#91;Pacific&#93; Service Guide]", "pil", None),
    ],
    "brackets inside": [
        ('[PIL [Pacific] Service Guide > Section 4: "Reefer" Rates]', "pil", 'Section 4: "Reefer" Rates'),
        ("[PIL (Pacific) Service Guide]", "pil", None),
        ("[PIL Pacific Service Guide]", "pil", None),
        ("[Incoterms 2020 Reference > FOB [Free on Board]]", "incoterms", "FOB [Free on Board]"),
        ("[Incoterms 2020 Reference > FOB (Free on Board)]", "incoterms", "FOB [Free on Board]"),
        ("[[Incoterms 2020 Reference > FOB [Free on Board]]]", "incoterms", "FOB [Free on Board]"),
    ],
    "full-width": [
        ("【Service Terms and Conditions＞6.3 Cargo Insurance】", "terms", "6.3 Cargo Insurance"),
        ("［Service Terms and Conditions > 6.3 Cargo Insurance］", "terms", "6.3 Cargo Insurance"),
        ("〔Service Terms and Conditions › 6.3 Cargo Insurance〕", "terms", "6.3 Cargo Insurance"),
        ("[Service Terms and Conditions：6.3 Cargo Insurance]", "terms", "6.3 Cargo Insurance"),
        ("[Service Terms and Conditions｜6.3 Cargo Insurance]", "terms", "6.3 Cargo Insurance"),
        ("[Service Terms and Conditions，6.3 Cargo Insurance]", "terms", "6.3 Cargo Insurance"),
        ("［\uff33ervice Terms and Conditions］", "terms", None),
    ],
    "escaped": [
        (r"\[Service Terms and Conditions > 6.3 Cargo Insurance\]", "terms", "6.3 Cargo Insurance"),
        (r"\[Frequently Asked Questions > Overview\]", "faq", "Overview"),
        (r"\[Frequently Asked Questions\]", "faq", None),
        (r"[PIL \[Pacific\] Service Guide]", "pil", None),
        (r"[Incoterms 2020 Reference > FOB \[Free on Board\]]", "incoterms", "FOB [Free on Board]"),
    ],
    "short forms": [
        ("[SLA Policy > 5.1 Standard Delivery Commitments]", "sla", "5.1 Standard Delivery Commitments"),
        ("[SLA > 5.1 Standard Delivery Commitments]", "sla", "5.1 Standard Delivery Commitments"),
        ("[SLA Policy]", "sla", None),
        ("[Service Level Policy]", "sla", None),
        ("[T&C > 6.3 Cargo Insurance]", "terms", "6.3 Cargo Insurance"),
        ("[STC > 6.3 Cargo Insurance]", "terms", "6.3 Cargo Insurance"),
        ("[Service T&C]", "terms", None),
        ("[FAQ > Overview]", "faq", "Overview"),
        ("[FAQs > Overview]", "faq", "Overview"),
        ("[Sea Booking Procedure]", "booking", None),
        ("[Sea Freight Procedures]", "booking", None),
        ("[Booking Procedure > Cut-off Times]", "booking", "Cut-off Times"),
        ("[GST Guide > Duties & Taxes]", "gst_guide", "Duties & Taxes"),
        ("[Import Requirements > Required Documents]", "thai_import", "Required Documents"),
    ],
    "section by number": [
        ("[Service Terms and Conditions > 6.3]", "terms", "6.3 Cargo Insurance"),
        ("[Service Terms and Conditions > Section 6.3]", "terms", "6.3 Cargo Insurance"),
        ("[Service Terms and Conditions > §6.3]", "terms", "6.3 Cargo Insurance"),
        ("[Service Terms and Conditions, Clause 6.3]", "terms", "6.3 Cargo Insurance"),
        ("[Service Terms and Conditions, 6.3]", "terms", "6.3 Cargo Insurance"),
        ("[Service Terms and Conditions § 6.3]", "terms", "6.3 Cargo Insurance"),
        ("[Service Terms and Conditions Section 6.3]", "terms", "6.3 Cargo Insurance"),
        ("[Service Terms and Conditions 6.3]", "terms", "6.3 Cargo Insurance"),
        ("[Service Terms and Conditions (Section 6.3)]", "terms", "6.3 Cargo Insurance"),
        ("[SLA Policy > 5.1]", "sla", "5.1 Standard Delivery Commitments"),
        ("[PIL Service Guide > Section 4]", "pil", 'Section 4: "Reefer" Rates'),
        ("[Service Terms and Conditions > 16.3]", "terms", "16.3 Notices"),
        ("[Section 6.3]", "terms", "6.3 Cargo Insurance"),
        ("[§ 5.1]", "sla", "5.1 Standard Delivery Commitments"),
    ],
    "pages": [
        ("[General Regulations, page 5]", "regulations", "Exams"),
        ("[General Regulations > p. 6]", "regulations", "Exams"),
        ("[General Regulations (p. 6)]", "regulations", "Exams"),
        ("[Frequently Asked Questions (Overview)]", "faq", "Overview"),
        ("[Frequently Asked Questions#Overview]", "faq", "Overview"),
    ],
    "file names": [
        ("[sla.md]", "sla", None),
        ("[kb/sla.md > 5.1]", "sla", "5.1 Standard Delivery Commitments"),
        ("[thai_import.md > Required Documents]", "thai_import", "Required Documents"),
        ("[vietnam_import]", "vietnam_import", None),
        ("[Source: booking.md]", "booking", None),
        ("[general-regulations.pdf, p. 5]", "regulations", "Exams"),
        ("[General_Regulations.pdf]", "regulations", None),
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
    ],
    "section alone": [
        ("[Required Documents]", "thai_import", "Required Documents"),
        ("[Cargo Insurance]", "terms", "6.3 Cargo Insurance"),
        ("[6.3 Cargo Insurance]", "terms", "6.3 Cargo Insurance"),
        ("[Duties &amp; Taxes]", "gst_guide", "Duties & Taxes"),
        ("[Booking > Cut-off Times]", "booking", "Cut-off Times"),
        ("[Source: Required Documents]", "thai_import", "Required Documents"),
    ],
}

TRAPS = {
    "short forms": [
        "[SLA]",
        "[FAQ]",
        "[GST]",
        "[Service]",
        "[Import Requirements]",  # Of two countries.
        "[IR > Overview of Rules]",
        "[SLA Rules > 5.1 Standard Delivery Commitments]",
        "[Air Freight Booking Procedure > Cut-off Times]",
        "[ST > Cargo]",
        "[Laos Import Requirements > Required Documents]",
        "[Incoterms 2010 Reference]",
        "[Incoterms 2021 Reference]",
    ],
    "sections": [
        "[Overview]",  # Of two documents.
        "[Section 6.4]",
        "[Section 63]",
        "[6.30]",
        "[overview]",
        "[required documents]",
        "[Exam]",
        "[Standard Delivery]",
        "[Required Permits]",
        "[Customs Act > Required Documents]",
        "[Liability > Cut-off Times]",
        "[Clause 3]",
    ],
    "file names": [
        *("[laos_import.md]", "[import.md]", "[sla.txt.bak]", "[a_b]", "[air_booking.md > Cut-off Times]", "[.md]")
    ],
    "escaped": [r"\[SLA\]", r"\[6.3\]", r"\[x > y\]", r"\[Laos Rules > Overview\]", r"\[Frequently Asked Questions"],
    "full-width": ["【SLA】", "［2024］", "〔注〕", "［Laos Rules＞Overview］", "【】"],
    "other": [
        *("[5 > 3]", "[2024]", "[99]", "[1.5]", "[sic]", "[A-Z]", "[^1]", "[&amp;]", "[p. 5]", "[§]", "[Name]"),
        "[...]",
    ],
}


def cited(answer: str, **options: Any) -> list[tuple[str, str | None, str | None]]:
    found = read(answer, BOOKSHELF, min_citations=0, attribution=False, **options)["citations"]
    return [(c["raw"], c["doc_id"], c["section"]) for c in found if c["matched"]]


@pytest.mark.parametrize(("marker", "doc_id", "section"), [case for cases in RIGHT.values() for case in cases], ids=str)
def test_a_citation_is_read_as_it_is_meant(marker, doc_id, section):
    assert cited(f"{KEPT[:-1]} {marker}.") == [(marker, doc_id, section)]


@pytest.mark.parametrize("marker", ["[Service Terms and Conditions > 6.4]", "[Service Terms and Conditions > 6]"])
def test_another_number_is_another_section(marker):
    [(_, doc_id, section)] = cited(f"{KEPT[:-1]} {marker}.")
    assert (doc_id, section) in {("terms", None), ("terms", "6.3 Cargo Insurance")}
    assert section is None or "> 6]" in marker


NOTES = [
    "[^1]: Service Terms and Conditions > 6.3 Cargo Insurance",
    "[^1]: [Service Terms and Conditions > 6.3 Cargo Insurance]",
    "[^1]: Source: Service Terms and Conditions, Section 6.3.",
    "[^1]: *Service Terms and Conditions*, 6.3 Cargo Insurance.",
    *("[^1]: [Service Terms and Conditions](https://example.org), 6.3", "[^1]: terms.md, 6.3"),
    *("[^1]: See Service Terms and Conditions (6.3 Cargo Insurance).", "[^1]: T&C > 6.3"),
    "[^1]: Service Terms and Conditions > 6 Liability > 6.3 Cargo Insurance",
    "[^1]: [Service Terms and Conditions > 6 Liability > 6.3 Cargo Insurance]",
    *("[^1]: terms.md > 6.3 Cargo Insurance", "[^ins]: Service Terms and Conditions > 6.3 Cargo Insurance"),
]


@pytest.mark.parametrize("style", ["title", "numbered"])
@pytest.mark.parametrize("note", NOTES)
def test_a_footnote_stands_for_the_document_that_its_note_names(note, style):
    label, model = note.partition(":")[0], read_numbered if style == "numbered" else cited
    assert model(f"{KEPT}{label} It is so.\n\n{note}\n") == [(label, "terms", "6.3 Cargo Insurance")]


def test_a_superscript_is_a_footnote_where_a_note_has_its_number():
    answer = f"It is 3 m² large.¹ {KEPT}²\n\n¹ FAQ > Overview\n² Service Terms and Conditions, 6.3"
    assert [(raw, doc_id) for raw, doc_id, _ in cited(answer)] == [("¹", "faq"), ("²", "terms")]


def test_a_footnote_may_be_named_by_a_word_and_used_twice_and_carries_its_own_sentence():
    answer = f"{KEPT}[^note]\n\nElephants fly.[^note]\n\n[^note]: FAQ > Overview\n[^2]: Subject to change."
    [first, second] = read(answer, BOOKSHELF, min_citations=0, attribution=False)["citations"]
    assert [first["raw"], second["raw"]] == ["[^note]", "[^note]"]
    assert first["support"] == 1.0 > second["support"]


@pytest.mark.parametrize(
    "note",
    [
        *("[^1]: Subject to change without notice.", "[^1]: Customs Act > Required Documents"),
        *("[^1]: https://example.org", "[^1]: Overview", "[^2]: Service Terms and Conditions"),
        *("    [^1]: Service Terms and Conditions", "`[^1]: Service Terms and Conditions`"),
    ],
)
def test_a_footnote_whose_note_names_nothing_that_was_shown_matches_nothing(note):
    assert cited(f"{KEPT}[^1]\n\n{note}\n") == []


LISTS = [
    "Sources:\n[1] Frequently Asked Questions > Overview\n[2] Service Terms and Conditions > 6.3 Cargo Insurance",
    "**References**\n\n1. Frequently Asked Questions > Overview\n2. Service Terms and Conditions > 6.3",
    "[1]: Frequently Asked Questions, Overview\n[2]: Service Terms and Conditions, 6.3 Cargo Insurance",
    "## Sources\n- [1] FAQ > Overview\n- [2] T&C > 6.3 Cargo Insurance",
    "References\n\n[2] terms.md > 6.3\n[1] faq.md > Overview",
    "Sources:\n[1] [Frequently Asked Questions > Overview]\n[2] [Service Terms and Conditions > 6.3]",
    "Sources:\nSource 1: FAQ > Overview\nSource 2: Service Terms and Conditions > 6.3\n\nAsk for more.",
]


@pytest.mark.parametrize("listed", LISTS)
@pytest.mark.parametrize("style", ["title", "numbered"])
def test_a_bibliography_says_what_the_numbers_stand_for(listed, style):
    answer = f"It is so [2]. {KEPT[:-1]} [1].\n\n{listed}\n"
    model = read_numbered if style == "numbered" else cited
    documents = [(doc_id) for _, doc_id, _ in model(answer)]
    assert documents == ["terms", "faq"]


def read_numbered(answer: str) -> list[tuple[str, str | None, str | None]]:
    reading = read(answer, BOOKSHELF, style="numbered", min_citations=0, attribution=False)
    written = reading["replacement"]
    assert written is None or all(written[c["start"] : c["end"]] == c["raw"] for c in reading["citations"])
    return [(c["raw"], c["doc_id"], c["section"]) for c in reading["citations"] if c["matched"]]


@pytest.mark.parametrize(
    "listed",
    [
        "Steps:\n98. Frequently Asked Questions\n99. Service Terms and Conditions",
        "Sources:\n[98] Customs Act\n[99] Laos Rules",
        "Sources:\n[97] Frequently Asked Questions",
        "[98] It is so.",
    ],
)
def test_lines_that_are_no_bibliography_or_name_nothing_shown_match_nothing(listed):
    assert [raw for raw, _, _ in cited(f"{KEPT[:-1]} [98].\n\n{listed}\n")] == []


def test_a_number_whose_line_names_nothing_that_was_shown_is_removed():
    reading = read(
        "So [1]. But [2].\n\nSources:\n[1] Laos Rules\n[2] FAQ > Overview", BOOKSHELF, style="numbered", min_citations=0
    )
    assert reading["replacement"] == "So. But [1].\n\nSources:\nLaos Rules\n[1] FAQ > Overview"
    assert [c["doc_id"] for c in reading["citations"]] == ["faq"]


TARIFF, RULES = "Singapore GST Guide", "Indonesia Import Rules"
BOOKS = [
    passage("sg_gst", TARIFF, "Rates", section_path='["Imports", "Rates"]', file_path="01_sg/sg_gst_guide.md"),
    passage("sg_gst", TARIFF, "Reliefs", section_path='["Imports", "Reliefs"]', file_path="01_sg/sg_gst_guide.md"),
    passage("id_import", RULES, "Rates", section_path='["Duties", "Rates"]', file_path="01_id/id_import.md"),
]


@pytest.mark.parametrize(
    "written",
    [
        *("sg_gst_guide.md Rates", "sg_gst_guide.md Section Rates", "sg_gst_guide.md/Rates", "sg_gst_guide.md:Rates"),
        *("sg-gst-guide.md > Rates", "`sg_gst_guide.md` Rates", "01_sg/sg_gst_guide.md Imports > Rates"),
        *("^Singapore GST Guide > Imports > Rates", "Imports > Rates"),
    ],
)
def test_a_file_with_a_section_a_path_in_a_footnote_and_a_path_of_headings_name_their_passage(written):
    [marker] = find_markers(f"Nine percent [{written}].")

    assert [reference.passage for reference in read_titles(marker, BOOKS)] == [BOOKS[0]]


def test_a_footnote_may_begin_on_the_line_below_its_label():
    references, _ = read_notes("Nine percent.[^1]\n\n[^1]:\n    Singapore GST Guide > Imports > Rates", BOOKS)

    assert [reference.passage for reference in references] == [BOOKS[0]]


@pytest.mark.parametrize("written", ["Rates", "^1", "^gst", "sg_gst_guide.unknown Rates"])
def test_a_heading_of_two_documents_and_a_label_alone_name_nothing(written):
    markers = find_markers(f"Ten percent [{written}].")
    assert not [found.passage for marker in markers for found in read_titles(marker, BOOKS) if found.passage]


DUTIES = [
    passage("sg", TARIFF, "Rates") | {"content": "The rate of GST on imports into Singapore is 9 % of the value."},
    passage("id", RULES, "Rates") | {"content": "Indonesia levies VAT of 11 % on imported goods, paid at the port."},
    passage("my", "Malaysia Import Rules", "Rates") | {"content": "The service tax in Malaysia is 8 % of the charge."},
]


@pytest.mark.parametrize("sentence", ["GST on imports into Singapore is 9 %", "Elephants fly to the moon on Sundays"])
def test_a_section_of_several_documents_names_none_where_none_or_more_than_one_supports_its_sentence(sentence):
    again = passage("sg_old", "Old Singapore Guide", "Rates") | {"content": DUTIES[0]["content"]}

    citations = read(f"{sentence} [Rates].", [*DUTIES, again], min_citations=0, attribution=False)["citations"]

    assert not [citation for citation in citations if citation["matched"]]


def test_a_sentence_in_code_gets_no_number():
    code = f"```\n{KEPT}\n```"
    written = read(f"Run:\n\n{code}\n\n{KEPT}", [BOOKSHELF[1]], style="numbered")["replacement"]
    assert written == f"Run:\n\n{code}\n\n{KEPT.removesuffix('.')} [1]."
