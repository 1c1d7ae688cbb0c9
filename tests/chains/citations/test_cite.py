import pytest
from langchain_core.documents import Document

from chains import citation_metadata
from chains.citations import CiteSources, format_citations_markdown
from chains.citations.numbering import TitledMarkers
from chains.citations.verification import is_decline
from tests.chains.citations.desk import SHOWN, passage, read
from tests.chains.gst import gst_chain
from tests.streams import merged


def test_a_passage_tells_what_it_can_be_cited_by():
    assert citation_metadata(SHOWN[:1]) == [
        {
            "title": "GST Guide",
            "section": "Import GST",
            "source_urls": ["https://example.org/a,b"],
            "doc_id": "gst_guide",
            "score": 0.5,
        }
    ]


def test_the_markdown_list_links_external_and_names_internal_documents():
    reading = read("It is 9 % [GST Guide > Import GST]. It needs 40 % [Certificates of Origin > Form D].")
    assert format_citations_markdown(reading["citations"]) == (
        "1. [GST Guide > Import GST](https://example.org/a,b)\n2. Certificates of Origin > Form D *(Internal Document)*"
    )


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


def test_an_answer_stands_on_the_sentence_that_answers():
    other = "The relief limit is S$400 for goods by air or post [GST Guide > Import GST]."
    assert read(f"The import GST in Singapore depends on the colour of the ship. {other}")["outcome"] == "ungrounded"
    assert read(f"Thank you for asking about import GST. {other}")["outcome"] == "answered"


def test_the_price_may_stand_in_the_sentence_behind_the_one_that_names_what_it_is_of():
    storage = "Winter storage runs from 1 November. It costs £75 and includes a service in March."
    shown = [passage("Storage", "Winter", storage)]
    assert read(f"{storage} [Storage > Winter]", shown, "winter storage price")["outcome"] == "answered"


def test_attribution_can_be_turned_off_and_never_guesses():
    answer = "The relief limit is S$400 for goods by air or post. It is 9 % [GST Guide > Import GST]."
    assert len(read(answer, attribution=False)["citations"]) == 1
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
        ("PIL does not sail on Mondays [PIL [Pacific] Service Guide].", "ungrounded"),
        ("PIL offers reefer containers [PIL [Pacific] Service Guide].", "answered"),
        ("I don't have specific information about that in the documents I can see. Import GST is 9 % [1].", "declined"),
    ],
)
def test_the_outcome_follows_from_the_words_and_the_citations(answer, outcome):
    assert read(answer, attribution=False)["outcome"] == outcome


def test_what_the_passage_itself_denies_is_an_answer():
    shown = [passage("Terms", "Quotes", "Our quoted documents do not include duty or GST unless DDP is agreed.")]
    answer = "Our quoted documents do not include duty or GST unless DDP is agreed [Terms > Quotes]."
    assert read(answer, shown)["outcome"] == "answered"


def test_the_least_number_of_citations_counts_sources_and_not_markers():
    twice = "Import GST in Singapore is 9 % of the CIF value [GST Guide > Import GST]. So it is [GST Guide > Reliefs]."
    assert read(twice, min_citations=2, attribution=False)["outcome"] == "ungrounded"
    both = f"{twice} A Form D proves ASEAN origin [Certificates of Origin > Form D]."
    assert read(both, min_citations=2, attribution=False)["outcome"] == "answered"


FOUND = [Document(passage["content"], metadata=passage["metadata"]) for passage in SHOWN]
RELIEF = "The relief limit is S$400 for goods by air or post"
ORIGIN = "A Form D proves ASEAN origin"


@pytest.mark.parametrize(
    ("answer", "written"),
    [
        (f"{RELIEF}.", f"{RELIEF} [1]."),
        (f"{ORIGIN}! {RELIEF}.", f"{ORIGIN} [1]! {RELIEF} [2]."),
        (f"- {RELIEF}\n- {ORIGIN}", f"- {RELIEF} [1]\n- {ORIGIN} [2]"),
        (f"| Limit | {RELIEF} |", f"| Limit | {RELIEF} [1] |"),
        (f"Elephants fly. Thus **{RELIEF}.**", f"Elephants fly. Thus **{RELIEF} [1].**"),
        (f"{RELIEF}. {ORIGIN} [9].", f"{RELIEF} [1]. {ORIGIN} [2]."),
    ],
)
def test_in_the_numbered_style_an_attributed_sentence_gets_the_marker_that_is_promised(answer, written):
    reading = read(answer, style="numbered")
    assert (reading["outcome"], reading["replacement"]) == ("answered", written)
    assert all(citation["attributed"] for citation in reading["citations"])
    assert [written[citation["start"] : citation["end"]] for citation in reading["citations"]] == [
        f"[{citation['number']}]" for citation in reading["citations"]
    ]


def test_markers_are_written_as_far_as_the_least_number_of_citations_asks_and_count_by_first_appearance():
    answer = f"{RELIEF}. {ORIGIN} [3]."
    assert read(answer, style="numbered")["replacement"] is None
    reading = read(answer, style="numbered", min_citations=2)
    assert reading["replacement"] == f"{RELIEF} [1]. {ORIGIN} [2]."
    assert [(c["number"], c["doc_id"], c["attributed"]) for c in reading["citations"]] == [
        (1, "gst_guide", True),
        (2, "certificates_of_origin", False),
    ]


def test_a_decline_ends_where_it_is_said_and_loses_its_markers():
    reading = read("The documents do not contain fees [GST Guide].\n\nAsk the desk.", attribution=False)
    assert reading["replacement"] == "The documents do not contain fees."


def test_the_decline_rule_reads_the_opening_only():
    assert not is_decline("A" * 150 + ". The documents do not contain more.", [])
    assert is_decline("The documents do not contain more.", [])


@pytest.mark.parametrize(
    ("answer", "written"),
    [
        (f"{RELIEF}.", f"{RELIEF} [1]."),
        (
            f"{RELIEF} [3].\n\n[3] GST Guide > Import GST\n[1] Certificates of Origin",
            f"{RELIEF} [1].\n\n[1] GST Guide > Import GST\n[2] Certificates of Origin",
        ),
    ],
)
def test_a_stream_ends_with_the_text_that_invoke_returns(answer, written):
    def chain():
        return gst_chain(answer, retriever=lambda _: FOUND, citations=CiteSources(style="numbered"))

    invoked, streamed = chain().invoke({"question": "Q?"}), merged(chain().stream({"question": "Q?"}))
    assert (invoked["outcome"], invoked["answer"]) == ("answered", written)
    assert streamed.get("replacement", streamed["answer"]) == written
    assert streamed["citations"] == invoked["citations"]
    assert [written[c["start"] : c["end"]] for c in invoked["citations"]] == ["[1]"]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("It is so [1].", "It is so [GST Guide > Import GST]."),
        ("It is so [3][1].", "It is so [Certificates of Origin > Form D][GST Guide > Import GST]."),
        ("It is so [1, 3].", "It is so [GST Guide > Import GST][Certificates of Origin > Form D]."),
        ("It is so [GST Guide > Import GST].", "It is so [GST Guide > Import GST]."),
        ("It is so [4].", r"It is so [PIL \[Pacific\] Service Guide > Reefer Containers]."),
        ("It is so [9]. More", "It is so. More"),
        ("See `list[1]` and [text](https://example.org).", "See `list[1]` and [text](https://example.org)."),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 100])
def test_the_numbers_of_the_context_become_titles_before_a_reader_sees_them(written, shown, size):
    markers = TitledMarkers(SHOWN)
    pieces = [markers.feed(written[at : at + size]) for at in range(0, len(written), size)]
    assert "".join([*pieces, markers.flush()]) == shown
