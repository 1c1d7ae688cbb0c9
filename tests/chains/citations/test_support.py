"""How far a passage supports a sentence: its words, numbers, names, rows and denials."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.citations.evidence import asked_about, evidence_of, prepare
from chains.citations.support import LEAST_SUPPORT, QUOTE_LIMIT, Support, support
from chains.citations.verification import verify
from chains.state import Passage
from chains.text.tokens import tokens
from tests.cases import cases

CHUNK = """## Demurrage and detention

Free time is 5 days for import containers at Jakarta. After that, demurrage of USD 60 per day is charged for a 20-foot
container.

| Container | Free days | Daily charge |
|-----------|-----------|--------------|
| 20ft dry | 5 days | USD 60 |
| 40ft dry | 5 days | USD 110 |

- Bookings must be made at least 7 days before departure.
- A Certificate of Origin (Form D) costs SGD 25 and is valid for 12 months.
- VAT rises to 12% from 1 January 2025."""
EVIDENCE = prepare(CHUNK)
ANY_TEXT = st.one_of(st.text(), st.text(alphabet="aA1 .,|#-*\n$%()'’é"), st.sampled_from([CHUNK, "", "5 days"]))


def synonyms(first, second):
    """Know one synonym: to book is to reserve."""
    return np.array([[float({a, b} == {"reservations", "bookings"}) * 0.8 for b in second] for a in first], np.float32)


def test_a_row_is_supported_whatever_the_order_of_its_cells():
    said = "40ft dry – Daily charge: USD 110; Free days: 5 days."
    assert support(said, EVIDENCE).score == 1.0
    assert support(said.replace("110", "90"), EVIDENCE).score < LEAST_SUPPORT


@pytest.mark.parametrize("span", EVIDENCE.statements, ids=lambda span: str(span.start))
def test_every_sentence_carries_itself_and_is_its_own_quote(span):
    sentence = CHUNK[span.start : span.end]
    assert support(sentence, EVIDENCE) == Support(1.0, sentence, span.start, span.end, contradicted=False)


def test_paraphrase_is_carried():
    result = support("Import containers at Jakarta get five free days.", EVIDENCE)
    assert result.score > 0.8
    assert result.quote == "Free time is 5 days for import containers at Jakarta."


def test_half_carried_stands_between():
    whole = support("Bookings must be made before departure.", EVIDENCE).score
    half = support("Bookings must be made before departure and paid by bank transfer in advance.", EVIDENCE).score
    assert 0.2 < half < whole - 0.2


@pytest.mark.parametrize(
    "sentence",
    [
        "The Eiffel Tower was completed in Paris by Gustave Eiffel.",
        "Free time is 5 days. " * 1000,  # Longer than any passage.
    ],
)
def test_unrelated_is_not_carried(sentence):
    assert support(sentence, EVIDENCE) == Support(0.0, "", 0, 0, contradicted=False)


@pytest.mark.parametrize(
    "sentence",
    [
        "Demurrage of USD 90 per day is charged for a 20-foot container after that.",
        "VAT rises to 11% from 1 January 2025.",
        "VAT rises to 12% from 1 January 2026.",
        "A Certificate of Origin (Form D) costs SGD 35 and is valid for 12 months.",
        "A 40ft dry container is charged USD 120 daily with 5 days free.",
        "Bookings must be made at least 14 days before departure.".replace("at least ", ""),
    ],
)
def test_changed_number_contradicts(sentence):
    result = support(sentence, EVIDENCE)
    assert result.contradicted
    assert result.score < 0.3


def test_number_of_another_sentence_is_misplaced_not_contradicted():
    result = support("Free time is 7 days for import containers at Jakarta.", EVIDENCE)
    assert (result.contradicted, result.score < 0.6) == (False, True)


@pytest.mark.parametrize(("worth", "holds"), [("S$350", True), ("S$450", False), ("350 kg", False)])
def test_a_figure_of_the_question_is_found_in_the_bound_that_holds_it(worth, holds):
    relief = prepare("Goods brought in by air with a CIF value of up to S$400 are relieved of GST at the border.")
    sentence = f"Goods with a value of {worth} are relieved of GST at the border."
    found = support(sentence, relief, asked=asked_about(f"Is there GST at the border on goods of {worth}?"))
    assert (found.score > 0.9) is holds


def test_one_of_two_figures_that_a_passage_leaves_open_is_not_supported():
    rate = prepare("Sales tax on imported goods is generally 5 % or 10 % of the value.")
    one, both = (f"Sales tax on imported goods is {figures} of the value." for figures in ("5 %", "5 % or 10 %"))
    assert (support(one, rate).supported, support(both, rate).supported) == (False, True)


@pytest.mark.parametrize(
    "sentence",
    [
        "1. Bookings must be made at least 7 days before departure.",
        "9) A Certificate of Origin (Form D) is valid for 12 months.",
        "The second Certificate of Origin (Form D) costs SGD 25.",
        "Step 3: bookings must be made before departure.",
        "About 6 days of free time apply to import containers at Jakarta.",
        "A 20-foot container pays more than USD 50 per day in demurrage.",
        "Import containers at Jakarta: the terminal has 3 gates.",
        "The Certificate of Origin (Form D) was introduced in 1998.",
        "A Certificate of Origin (Form D) costs SGD 25 and takes 3 visits.",
    ],
)
def test_ordinals_labels_estimates_and_absent_numbers_do_not_contradict(sentence):
    assert not support(sentence, EVIDENCE).contradicted


def test_number_inside_a_range_does_not_contradict():
    evidence = prepare("Transit from Singapore to Jakarta takes 3-5 days by sea.")
    assert not support("Transit from Singapore to Jakarta takes 4 days by sea.", evidence).contradicted
    assert support("Transit from Singapore to Jakarta takes 9 days by sea.", evidence).contradicted


def test_similarity_lets_a_synonym_count():
    sentence = "Reservations must be made at least 7 days before departure."
    assert support(sentence, EVIDENCE, similarity=synonyms).score > support(sentence, EVIDENCE).score


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("one million", ["1000000"]),
        ("1,000,000.00", ["1000000"]),
        ("2.5 million", ["2500000"]),
        ("twelve", ["12"]),
        ("U.S.", ["us"]),
        ("on 5 Sept", ["on", "5", "septemb"]),
    ],
)
def test_numbers_and_abbreviations_have_one_form(text, keys):
    assert [token.key for token in tokens(text)] == keys


@given(sentence=ANY_TEXT, chunk=ANY_TEXT)
def test_any_text_gets_a_score_and_a_quote_of_the_chunk(sentence, chunk):
    result = support(sentence, prepare(chunk), similarity=synonyms)
    assert 0 <= result.score <= 1
    assert result.quote in chunk
    assert result.quote == chunk[result.start : result.end]
    assert len(result.quote) <= QUOTE_LIMIT


@given(chunk=ANY_TEXT)
def test_spans_are_in_order_and_keep_every_word(chunk):
    spans = prepare(chunk).statements
    assert all(left.end <= right.start for left, right in pairwise(spans))


@pytest.mark.untraced
@pytest.mark.parametrize("pattern", ["\n", "(", ". ", "|", "1.", "- ", "A.", "a ", ">\n", "'a", ",5", "# ", "x\n- "])
def test_a_long_run_of_one_pattern_is_read_to_its_end(pattern):
    text = pattern * (200_000 // len(pattern)) + ",Word 5."
    assert prepare.__wrapped__(text).statements[-1].end == len(text)


TABLES = {
    "clubs": """## Clubs

| Club | Per term | Free for pupils with a locker |
|---|---|---|
| Fencing | £38 | yes |
| Judo | £74 | no |""",
    "grooming": """## Grooming

| Service | Dog | Cat |
|---|---|---|
| Wash and dry | £38 | £29 |
| Full groom | £52 | £47 |
| Nail trim | £12 | £10 |
""",
    "bakery": """Prices include VAT.

| Item | Price |
|---|---|
| Sourdough loaf | €4.80 |
| Rye loaf | €5.20 |
| Almond croissant | €3.10 |
| Plain croissant | €2.20 |
""",
    "gym": """| Plan | Monthly | Joining fee | Notice |
|---|---|---|---|
| Off-peak | $29 | $0 | 30 days |
| Standard | $45 | $20 | 30 days |
| Family | $79 | $35 | 60 days |
""",
    "plans": """| Feature | Basic | Pro | Enterprise |
|---|---|---|---|
| Single sign-on | No | No | Yes |
| Phone support | No | Yes | Yes |
| Storage | 10 GB | 100 GB | 1 TB |
| Audit log | - | 90 days | 7 years |
""",
    "library": """| Day | Opens | Closes |
|---|---|---|
| Monday | 09:00 | 18:00 |
| Wednesday | 10:00 | 20:00 |
| Saturday | 10:00 | 14:00 |
""",
    "doses": """| Weight | Dose | How often |
|---|---|---|
| up to 5 kg | 0.5 ml | twice a day |
| 5-10 kg | 1 ml | twice a day |
| 10-20 kg | 2 ml | once a day |
""",
    "garage": """| Job | Hours | Price |
|---|---|---|
| Oil change | 0.5 | 79 EUR |
| Brake pads, front | 1.5 | 240 EUR |
| Timing belt | 4 | 620 EUR |

Labour = hours x 95 EUR.

**Cars are handed in by 08:30 on the day of the appointment.**
""",
    "hotel": """Room rates per night:

- Single room: CHF 110
- Double room: CHF 165
- Suite with balcony: CHF 290

Total price = nights x room rate + CHF 3.50 city tax per person and night.

**Cancel free of charge until 18:00 two days before arrival.**
""",
    "school": """## Terms

| Term | Begins | Ends |
|---|---|---|
| Autumn | 2 September 2026 | 18 December 2026 |
| Spring | 5 January 2027 | 26 March 2027 |

**Applications close on 15 May 2026.**
""",
    "energy": """| Tariff | Day (ct/kWh) | Night (ct/kWh) | Standing charge |
|---|---|---|---|
| Green Fix | 31.4 | 24.9 | 11 EUR a month |
| Flex | 27.8 | 27.8 | 9 EUR a month |
""",
    "courier": """| Parcel | Within town | Abroad |
|---|---|---|
| 5 kg parcel | 12 EUR | 31 EUR |
| 20 kg parcel | 18 EUR | 47 EUR |
""",
    "canoes": """| Boat | 1 day | 3 days |
|---|---|---|
| Canoe | 20 EUR | 50 EUR |
| Kayak | 30 EUR | 75 EUR |
""",
    "halls": """- Hall for 50 guests: 200 EUR
- Hall for 120 guests: 400 EUR
""",
}  # fmt: skip

SUPPORTED = [
    ("clubs", "is judo free with a locker", "No. Judo \u2013 Free for pupils with a locker: no; Per term: £74."),
    ("courier", "What is a 20 kg parcel?", "20 kg parcel: 18 EUR within town"),
    ("courier", "How much is a parcel of 20 kg abroad?", "A 20 kg parcel abroad costs 47 EUR."),
    ("canoes", "What is a kayak for 3 days?", "A kayak costs 75 EUR for 3 days."),
    ("halls", "What does a hall cost?", "The hall for 120 guests costs 400 EUR."),
    ("grooming", "How much is a full groom for a cat?", "Full groom: £52 for a dog; £47 for a cat."),
    ("grooming", "How much is a full groom for a cat?", "A full groom costs £47 for a cat."),
    ("grooming", "How much is a full groom for a cat?", "For a cat, the full groom is £47."),
    ("grooming", "What does a nail trim cost?", "| Nail trim | £12 | £10 |"),
    ("grooming", "What does a nail trim cost?", "Nail trim – Dog: £12; Cat: £10."),
    ("grooming", "What does a nail trim cost?", "A nail trim is £12 for dogs and £10 for cats."),
    ("grooming", "What do you charge for a wash?", "Wash and dry: £38 (dog), £29 (cat)"),
    ("bakery", "How much is the rye?", "| Rye loaf | €5.20 |"),
    ("bakery", "How much is the rye?", "The rye loaf costs €5.20."),
    ("bakery", "How much is the rye?", "Rye loaf: €5.20"),
    ("bakery", "What is the price of an almond croissant?", "An almond croissant is €3.10."),
    ("bakery", "What is the price of an almond croissant?", "€3.10"),
    ("bakery", "Which croissants do you sell?", "Plain croissant €2.20, almond croissant €3.10."),
    ("gym", "What is the joining fee of the family plan?", "The joining fee of the Family plan is $35."),
    ("gym", "What is the joining fee of the family plan?", "Family – Monthly: $79; Joining fee: $35; Notice: 60 days."),
    ("gym", "How long is the notice for standard?", "The notice for the Standard plan is 30 days."),
    ("gym", "How much is off-peak a month?", "Off-peak costs $29 monthly, without a joining fee."),
    ("gym", "How much is off-peak a month?", "$29 a month."),
    ("plans", "Does Pro have phone support?", "Yes, Pro has phone support."),
    ("plans", "Which plan has single sign-on?", "Single sign-on: Basic No, Pro No, Enterprise Yes"),
    ("plans", "How much storage has Enterprise?", "Enterprise has 1 TB of storage."),
    (
        "plans",
        "How much storage has Enterprise?",
        "Storage is 10 GB for Basic, 100 GB for Pro and 1 TB for Enterprise.",
    ),
    ("plans", "How long is the audit log kept in Pro?", "The audit log is 90 days in Pro."),
    ("library", "When do you open on Saturday?", "On Saturday the library opens at 10:00 and closes at 14:00."),
    ("library", "When do you open on Saturday?", "Saturday: 10:00 - 14:00"),
    ("library", "How late are you open on Wednesday?", "It closes at 20:00 on Wednesday."),
    ("doses", "What is the dose for 7 kg?", "5-10 kg: 1 ml, twice a day."),
    ("doses", "What is the dose for 7 kg?", "For 5-10 kg the dose is 1 ml twice a day."),
    ("doses", "How often for a dog of 15 kg?", "10-20 kg – Dose: 2 ml; How often: once a day."),
    ("garage", "What does a timing belt cost?", "The timing belt takes 4 hours and costs 620 EUR."),
    ("garage", "What does a timing belt cost?", "Timing belt – 620 EUR"),
    ("garage", "How is labour calculated?", "Labour is 95 EUR x hours."),
    ("garage", "How is labour calculated?", "Labour = hours x 95 EUR"),
    ("garage", "When must I bring the car?", "The car must be handed in by 08:30 on the day of the appointment."),
    ("hotel", "What is a double?", "Double room: CHF 165"),
    ("hotel", "What is a double?", "A double room costs CHF 165 per night."),
    (
        "hotel",
        "How is the total price made up?",
        "The total price is the room rate x nights + CHF 3.50 city tax per person and night.",
    ),
    ("hotel", "Until when can I cancel?", "You can cancel free of charge until 18:00 two days before arrival."),
    ("hotel", "Until when can I cancel?", "Until 18:00 two days before arrival."),
    ("school", "When do applications close?", "The deadline for applications is 15 May 2026."),
    ("school", "When does spring term begin?", "The Spring term begins on 5 January 2027."),
    ("school", "When does spring term begin?", "Spring: 5 January 2027 to 26 March 2027."),
    ("energy", "What is the night price of Green Fix?", "Green Fix costs 24.9 ct/kWh at night."),
    ("energy", "What is the standing charge of Flex?", "Flex has a standing charge of 9 EUR a month."),
]  # fmt: skip

WRONG = [
    ("courier", "What do parcels cost?", "20 kg parcel: 12 EUR within town"),
    ("courier", "What do parcels cost?", "A 20 kg parcel abroad costs 31 EUR."),
    ("canoes", "What does a kayak cost?", "A kayak costs 30 EUR for 3 days."),
    ("halls", "What does a hall cost?", "The hall for 120 guests costs 200 EUR."),
    ("grooming", "How much is a full groom for a cat?", "A full groom costs £29 for a cat."),
    ("grooming", "How much is a full groom for a cat?", "A full groom costs £52 for a cat."),
    ("grooming", "What does a nail trim cost?", "A nail trim is £38 for a dog."),
    ("bakery", "How much is the rye?", "The rye loaf costs €4.80."),
    ("bakery", "What is the price of an almond croissant?", "An almond croissant is €2.20."),
    ("gym", "What is the joining fee of the family plan?", "The joining fee of the Family plan is $79."),
    ("gym", "What is the joining fee of the family plan?", "The joining fee of the Family plan is $20."),
    ("gym", "How long is the notice for standard?", "The notice for the Standard plan is 60 days."),
    ("plans", "How much storage has Enterprise?", "Enterprise has 100 GB of storage."),
    ("plans", "How long is the audit log kept in Pro?", "The audit log is 7 years in Pro."),
    ("library", "When do you open on Saturday?", "On Saturday the library opens at 09:00."),
    ("doses", "What is the dose for 7 kg?", "The dose for 5-10 kg is 2 ml."),
    ("garage", "What does a timing belt cost?", "The timing belt costs 240 EUR."),
    ("hotel", "What is a double?", "A double room costs CHF 110 per night."),
    ("school", "When does spring term begin?", "The Spring term begins on 2 September 2026."),
    ("energy", "What is the night price of Green Fix?", "Green Fix costs 31.4 ct/kWh at night."),
]


def _support(table, question, sentence):
    passage = Passage(content=TABLES[table], metadata={"title": "Price list"}, score=0.7)
    return verify([sentence], [passage], None, asked_about(question, [passage]))


ROWS = {"what restates a row or formula is supported": (True, SUPPORTED), "another cell's value is not": (False, WRONG)}


@pytest.mark.parametrize(
    ("table", "question", "sentence", "expected"),
    cases({claim: [(*case, expected) for case in group] for claim, (expected, group) in ROWS.items()}),
)
def test_a_sentence_is_supported_by_its_own_row(table, question, sentence, expected):
    verified = _support(table, question, sentence)
    assert verified.supported is expected, verified


PASSAGE = "Free time is 5 days for import containers. After that, demurrage is charged per day and container."


def score(sentence: str, title: str = "", section: str = "") -> float:
    metadata = {"title": title, "section": section}
    return support(sentence, evidence_of(Passage(content=PASSAGE, metadata=metadata, score=None))).score


@pytest.mark.parametrize("foreign", ["in Jakarta ", "from 3 companies ", "on weekdays at Tanjung Priok "])
def test_a_name_or_a_number_that_the_passage_lacks_costs_more_than_a_word(foreign):
    sentence = "Import containers {}get free time of 5 days."
    assert score(sentence.format(foreign)) < score(sentence.format("usually loaded "))


@pytest.mark.parametrize("place", ["title", "section"])
def test_a_name_in_the_title_or_section_is_not_missing(place):
    sentence = "Import containers at Jakarta get free time of 5 days."
    assert score(sentence, **{place: "Jakarta terminal"}) > score(sentence)


@pytest.mark.parametrize("sentence", ["Free time is at most 8 days for import containers.", "Free time 8 is 5 days."])
def test_a_number_that_the_passage_lacks_never_reads_as_supported(sentence):
    assert score(sentence) < LEAST_SUPPORT


def test_a_heading_adds_no_words_to_quote_from():
    evidence = prepare(PASSAGE, "Jakarta terminal")
    assert evidence.text == PASSAGE
    assert support("Jakarta terminal", evidence).score == 0


DENIALS = """Face creams may be shipped by air. Used machinery is not allowed into the free zone.
Bookings must be made no later than 7 days before departure. Smoking is prohibited in the warehouse of the desk.
If the invoice is not signed, the broker returns the papers. The carrier does not refund the booking fee."""
DENIED = prepare(DENIALS)


@pytest.mark.parametrize(
    "sentence",
    [
        *("Face creams may not be shipped by air at all.", "Face creams can't be shipped by air."),
        *("Used machinery is allowed into the free zone too.", "Bookings must not be made 7 days before departure."),
        "The carrier does refund the booking fee.",
    ],
)
def test_what_is_denied_on_one_side_alone_is_not_supported(sentence):
    found = support(sentence, DENIED)
    assert (found.score < LEAST_SUPPORT, found.contradicted) == (True, False)


@pytest.mark.parametrize(
    "sentence",
    [
        *("Face creams may be shipped by air, too.", "Into the free zone used machinery is not allowed."),
        *("Used machinery isn't allowed into the free zone.", "Bookings must be made 7 days before departure."),
        "Smoking is not allowed in the warehouse of the desk.",
        "The broker returns the papers if the invoice is signed by nobody.",
        "No refund of the booking fee: the carrier does not refund it.",
    ],
)
def test_limits_conditions_and_other_words_for_a_denial_deny_nothing(sentence):
    assert support(sentence, DENIED).score >= LEAST_SUPPORT
