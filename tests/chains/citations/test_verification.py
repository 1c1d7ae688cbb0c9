"""Which sentences a marker vouches for, and what is verified of them."""

import pytest
from langchain_core.documents import Document

from chains import process_citations
from chains.citations.cited_sentences import LONGEST_SENTENCE, CheckedText, SentenceGate, clauses_of, sentences_of
from chains.citations.evidence import asked_about
from chains.citations.markers import find_markers
from chains.citations.support import LEAST_SUPPORT
from chains.citations.verification import attribute, leading, turns_in_circles, verify
from chains.state import Passage
from chains.text.asking import gives_what_is_asked
from tests.chains.gst import Shelf, gst_chain
from tests.streams import asked

LENGTHS = "| Box | Inner length |\n|---|---|\n| 40 ft standard | 12.0 m |\n| 40 ft reefer | 11.5 m |"

FEES = "| Change | Fee |\n|---|---|\n| Before the cut-off, BL not issued | S$60 |\n| After BL was issued | S$90 |"
CANCELLED = (
    "A booking can be cancelled free of charge until seven days before ETD.\n\n| Moment | Fee |\n|---|---|\n"
    "| Middle | S$150 from 6 to 3 days before ETD |\n| Late | S$350 less than 3 days before ETD |"
)
CODES = "An HS code has six digits in every country: 330499 is skin care, and each country adds two digits of its own."

DELIVERY = (
    "| Order | Bronze | Ruby |\n|---|---|---|\n| Spare part | 3 days | 2 days |\n| New machine | 2 days | 1 day |\n"
    "| Repair | 6 hours | 4 hours |"
)
RETURNS = (
    "| Returned | Charge |\n|---|---|\n| Within 10 days | no charge |\n| 11-30 days | EUR 15 |\n"
    "| More than 30 days | EUR 45 |"
)
LICENCE = (
    "| Item | Amount |\n|---|---|\n| First permit | EUR 300 |\n| Each further permit | EUR 80 |\n| Validity | 4 years |"
)
OFFICES = (
    "| Office | Phone | Open |\n|---|---|---|\n| Library | 0345 120 11 | weekdays |\n"
    "| Archive | 0345 120 17 | by request |\n| Director | on request | closed |\n\nThe whole house is closed in August."
)

BATTERIES = Passage(content="A lithium battery needs approval.", metadata={"title": "Dangerous goods"}, score=0.5)


def is_supported(question: str, sentence: str, content: str, title: str = "Guide") -> bool:
    passage = Passage(content=content, metadata={"title": title, "section": ""}, score=0.5)
    return verify([sentence], [passage], None, asked_about(question, [passage, BATTERIES])).supported


@pytest.mark.parametrize(
    ("question", "sentence", "content"),
    [
        (
            "What does a change cost before the BL is issued?",
            "A change costs S$60 as long as the BL is not issued.",
            FEES,
        ),
        ("What is the fee to cancel five days before ETD?", "Five days before ETD, the fee is S$150.", CANCELLED),
        ("When must the papers be kept until?", "They must be kept for five years.", "Papers are kept for five years."),
        ("How long is the BPOM notification valid?", "Three years.", "The BPOM notification is valid for three years."),
        ("Who signs the form at the depot?", "The desk coordinator", "The form is signed by the desk coordinator."),
        ("What is the inner length of a 40 ft reefer?", "The inner length of a 40 ft reefer is 11.5 m.", LENGTHS),
        ("how soon do ruby members get a spare part", "Ruby members get a spare part within 2 days.", DELIVERY),
        ("what do i pay if i return it after 40 days", "Returned after 40 days, the charge is EUR 45.", RETURNS),
        ("what do i pay if i return it after 8 days", "There is no charge if it is returned after 8 days.", RETURNS),
        ("what is the fee for each permit and how long does it last", "The permit is valid for 4 years.", LICENCE),
    ],
)
def test_words_of_the_question_and_short_answers_find_their_passage(question, sentence, content):
    assert is_supported(question, sentence, content)


@pytest.mark.parametrize(
    ("question", "sentence", "content"),
    [
        ("Is it compulsory?", "Yes, it is compulsory.", "Halal certification is voluntary for most goods."),
        (
            "Which papers does the Philippines ask for?",
            "The Philippines asks for a letter of authorisation.",
            "Customs asks for a letter of authorisation.",
        ),
        ("What is the inner length of a 40 ft reefer?", "The inner length of a 40 ft reefer is 12.0 m.", LENGTHS),
        ("What is the fee to cancel five days before ETD?", "Five days before ETD, the fee is S$350.", CANCELLED),
        ("Amend BL after issue, fee?", "The fee for changing the bill after issue is S$60.", FEES),
        ("What is the HS code of a lithium battery?", "The HS code of a lithium battery is 330499.", CODES),
        ("What is the fee?", "The fee is S$40.", "The fee is S$50."),
        (
            "Up to which amount can I pay with plastic?",
            "The plastic amount is up to USD 28.",
            "A lamp of plastic parts worth USD 28 passes the test.",
        ),
        (
            "Oversize freight on an open wagon: how many days ahead?",
            "A parcel should be booked at least five working days ahead.",
            "| Service | Ahead |\n|---|---|\n| Oversize freight, open wagon | 21 days |\n"
            "| Parcel | 5 working days |\n\n"
            "A parcel should be booked at least five working days ahead.",
        ),
        ("What is the fee at the depot?", "17 October 2026", "The law begins on 17 October 2026."),
        ("how soon do ruby members get a new machine", "Ruby members get a new machine within 2 days.", DELIVERY),
        (
            "buyer returns it 20 days later how much does he pay",
            "The buyer pays no charge for returning it 20 days later.",
            RETURNS,
        ),
        ("what does a second permit cost", "The second permit costs EUR 300.", LICENCE),
        ("what is the director's phone number", "The director's phone number is 0345 120 17.", OFFICES),
        ("when is the library open", "The library is closed.", OFFICES),
    ],
)
def test_an_echo_another_name_another_row_and_another_figure_are_not_supported(question, sentence, content):
    assert not is_supported(question, sentence, content)


def test_a_sentence_whose_last_part_declines_keeps_what_it_says_before():
    content = "The import duty on furniture is 5 %."
    sentence = "The import duty on furniture is 5 %, but the documents do not name the rate of value added tax for it."
    assert is_supported("What are duty and VAT on furniture?", sentence, content)


def test_two_letters_are_short_for_a_name_of_the_passage():
    content = "An official ruling by Singapore Customs costs S$75 per product and is valid for that product only."
    for name, supported in (("SG", True), ("MY", False)):
        sentence = f"An official ruling from {name} Customs costs S$75 per product and is valid for that product only."
        assert is_supported(f"What does a ruling from {name} Customs cost?", sentence, content) is supported


def test_what_the_nearest_passage_says_of_something_else_is_supported_by_no_other():
    question = "guest leaves 6 days before arrival how much is the charge"
    table = "| Guest leaves | Guest pays |\n|---|---|\n| More than 9 days before arrival | No charge |\n"
    step = "## Step 6\n\nThe guest pays for the room. The keys lie ready days before arrival."
    shown = [
        Passage(content=text, metadata={"title": "Stays"}, score=0.5)
        for text in (f"{table}| 4-9 days before arrival | 30% of the stay |", step)
    ]
    sentences = sentences_of("The guest pays no charge for leaving 6 days before arrival.", [])
    about = asked_about(question, shown)

    assert [*attribute(sentences, shown[1:], about)]
    assert not [*attribute(sentences, shown, about)]


def test_the_initials_of_the_title_are_its_name():
    question, sentence = "How long does an MPW permit last?", "The validity of an MPW permit is 4 years."

    assert is_supported(question, sentence, LICENCE, "Municipal Parking Zones for Works") is False
    assert is_supported(question, sentence, LICENCE, "Municipal Parking Ways")


def test_a_country_that_opens_the_sentence_is_a_name():
    content = "The standard VAT rate in Vietnam is 10 %, and a temporary rate of 8 % applies."
    sentence = "Thailand applies a standard VAT rate of 10 %, while Vietnam applies a temporary rate of 8 %."
    assert not is_supported("Compare the VAT in Vietnam with that in Thailand.", sentence, content)


@pytest.mark.parametrize(
    ("question", "sentence", "given"),
    [
        ("How many ships does the carrier have?", "The carrier has 3.2 million TEU.", False),
        ("How many ships does the carrier have?", "The carrier has 412 ships.", True),
        ("How many days before ETD must it be booked?", "The cut-off is 16:00.", False),
        ("How long are quotes valid?", "Quotes are valid for 14 days.", True),
        ("How long may it stay?", "It may stay until the vessel sails.", True),
        ("What is the phone number of the desk?", "The desk is at 10 Harbour Road, #20-05.", False),
        ("What is the phone number of the desk?", "Call +65 6123 4567.", True),
        ("What is the e-mail address of the desk?", "The desk is at 10 Harbour Road.", False),
        ("What is the fee for a permit?", "The fee for a permit is 2.88 dollars.", True),
        ("What is the fee for a permit?", "A permit takes 3 days.", False),
        ("What percentage is charged?", "The charge is S$40.", False),
        ("How long does the review take?", "The policy is reviewed every spring.", False),
        ("How soon must damage be notified?", "The limit is 26 units a kilogram since 28 December 2024.", False),
        ("How many pallets fit into the box?", "A pallet of 120 x 100 x 150 cm weighs 300 kg.", False),
        ("Who signs it?", "It is signed within 3 days.", True),
        ("valid how many yers?", "It is valid for five years.", True),
    ],
)
def test_a_figure_is_of_the_kind_that_is_asked(question, sentence, given):
    assert gives_what_is_asked(sentence, question) is given


@pytest.mark.parametrize(
    ("answer", "lead"),
    [
        ("Thank you for asking about the duty. The duty is 5 %. It may change.", "The duty is 5 %."),
        ("Let us see.\n\nIt is not due. The duty is 5 %.", "The duty is 5 %."),
        ("It is 5 %.", None),
        ("The duty does not apply.", "The duty does not apply."),
        ("The documents do not say the duty of Brunei. The duty of Laos is 5 %.", "The duty of Laos is 5 %."),
    ],
)
def test_the_first_claim_with_a_word_of_the_question_answers_it(answer, lead):
    sentence = leading(sentences_of(answer, []), asked_about("What is the duty?"))
    assert (sentence.words if sentence else None) == lead


@pytest.mark.parametrize(
    ("sentence", "supported"),
    [("A packing list and a PIB declaration are needed.", False), ("Indonesia asks for a PIB declaration.", True)],
)
def test_what_another_countrys_document_says_supports_only_what_names_that_country(sentence, supported):
    titles = ("Indonesia Import Requirements by Sea", "Thailand Import Requirements")
    content = "A packing list and a PIB declaration are needed. Indonesia asks for a PIB declaration."
    passage, other = (
        Passage(content=text, metadata={"title": title, "section": "Documents"}, score=0.5)
        for text, title in zip((content, "Nothing."), titles, strict=True)
    )
    about_another, about_this = (
        asked_about(f"Which documents does {country} ask for?", [passage, other])
        for country in ("Thailand", "Indonesia")
    )
    assert verify([sentence], [passage], None, about_another).supported is supported
    assert verify([sentence], [passage], None, about_this).supported


@pytest.mark.parametrize(("answer", "supported"), [("1", ["1"]), ("The moon is made of cheese.\n\n| Fee | 1 |", [])])
def test_a_number_alone_is_supported_only_where_it_is_the_whole_answer(answer, supported):
    passage = Passage(
        content="The fee is 1 S$ from 1 January 2024.", metadata={"title": "Fees", "section": ""}, score=0.5
    )
    found = attribute(sentences_of(answer, []), [passage], asked_about("How high is the fee?"))
    assert [sentence.words for sentence, _ in found] == supported


def test_a_model_that_turns_in_circles_says_nothing():
    assert turns_in_circles("The surcharge is a local charge of the desk. " * 9)
    assert not turns_in_circles("\n".join(f"| Service {number} | not allowed |" for number in range(40)))
    assert not turns_in_circles(" ".join(f"Line {number} sails on day {number * 7}." for number in range(20)))


def shown(pieces: list[str], supported: str = "Right") -> list[str]:
    gate = SentenceGate(lambda text: CheckedText(supported in text, []))
    return [part["answer"] for piece in (*pieces, None) for part in (gate.feed(piece) if piece else gate.flush())]


def test_a_sentence_passes_once_the_next_one_has_begun_and_with_its_markers():
    pieces = ["Right is this fee here. ", "[Guide > Fee] ", "Another statement follows", " here."]
    assert shown(pieces) == ["Right is this fee here. [Guide > Fee] ", "Another statement follows here."]


def test_nothing_passes_before_a_supported_sentence_and_then_all_that_waited():
    pieces = ["A wrong statement stands here. ", "Right is this fee here. ", "Done with the answer."]
    assert "".join(shown(pieces)) == "".join(pieces)
    assert shown(pieces)[0].startswith("A wrong statement stands here. Right")
    assert shown(pieces, supported="nothing") == []


def test_nothing_passes_once_the_sentence_that_answers_is_not_supported():
    gate = SentenceGate(lambda text: CheckedText("Right" in text, [], leads=None if "Right" in text else False))
    pieces = ["A wrong statement stands here. ", "Right is this fee here. ", "Done with the answer."]
    assert [part for piece in pieces for part in gate.feed(piece)] + list(gate.flush()) == []


def test_words_without_the_end_of_a_sentence_are_not_held_for_ever():
    parts = shown(["Right words "] * 500)
    assert "".join(parts) == "Right words " * 500
    assert max(map(len, parts)) <= LONGEST_SENTENCE


IMPORTS = Document("The rate of GST on imports is 9 %.", metadata={"title": "Imports", "score": 0.8})
EXPORTS = Document("Exports are zero-rated: the rate is 0 %.", metadata={"title": "Exports", "score": 0.8})
SHELF = Shelf(documents=[EXPORTS, IMPORTS])


def supported(answer: str) -> list[bool]:
    """Return for each marker whether its source supports what it vouches for."""
    citations = process_citations(answer, SHELF.documents, style="numbered")["citations"]
    return [one["support"] >= LEAST_SUPPORT and not one["contradicted"] for one in citations]


@pytest.mark.parametrize(
    ("answer", "verdicts"),
    [
        ("Import is 9 % [2], and export is 0 % [1].", [True, True]),
        ("The rate on imports is 9 % [2] while exports are zero-rated [1].", [True, True]),
        ("- Imports: 9 % [2]; exports: 0 % [1]", [True, True]),
        ("Imports: 9 % [2], exports: zero-rated [1]", [True, True]),
        ("Import is 9 % [1], and export is 0 % [2].", [False, False]),
        ("Import is 9 % [2], and export is 5 % [1].", [True, False]),
        ("Import is 9 % [2], export is 0 % [1], and tea is free.", [True, False]),
        ("GST for exports [1] is 9 % [2].", [False, False]),
    ],
)
def test_figures_from_two_sources_are_each_checked_against_their_own(answer, verdicts):
    assert supported(answer) == verdicts


@pytest.mark.parametrize("way", ["invoke", "stream"])
@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("The rate is 9 % on imports [2], and exports are zero-rated [1].", "answered"),
        ("The rate is 9 % on imports [2], and exports are free of storage fees [1].", "ungrounded"),
    ],
)
async def test_a_sentence_is_supported_if_each_of_its_clauses_is(answer, outcome, way):
    question = {"question": "What is the rate on imports and exports?"}
    found = await asked(gst_chain(answer, retriever=SHELF), way, question)

    assert found["outcome"] == outcome
    assert bool(found["unsupported"] or found["draft"]) == (outcome != "answered")


def test_adjacent_markers_share_a_clause_and_one_marker_has_the_sentence():
    answer = "It is 9 % [1] [2], and 0 % [3]. Tea is free [4]."
    places = [(marker.start, marker.end) for marker in find_markers(answer)]
    clauses = clauses_of(answer, sentences_of(answer, places), places)

    assert [clauses.get(start) for start, _ in places] == ["It is 9 %", "It is 9 %", "and 0 %.", None]


def test_a_marker_with_a_full_stop_in_it_cuts_no_sentence():
    answer = "The hotline is open all day [SLA > 12. Service Hours]. Ask the desk there."
    sentences = sentences_of(answer, [(28, 53)])
    assert [one.words for one in sentences] == ["The hotline is open all day.", "Ask the desk there."]


@pytest.mark.parametrize(
    ("answer", "count"),
    [
        ("You may not let your room to somebody else.", 1),
        ("Lunch is not.", 1),
        ("It is not.", 0),
        ("Yes, you can.", 0),
        ("The list:", 0),
    ],
)
def test_a_whole_sentence_with_one_word_of_its_own_says_something(answer, count):
    assert len(sentences_of(answer, [])) == count
