"""A sentence that restates a row, a cell, a formula or a deadline is supported; one with another row's value is not."""

import pytest

from chains.citations.evidence import asked_about
from chains.citations.verification import verify
from chains.state import Passage
from tests.cases import cases

TABLES = {
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
}  # fmt: skip

SUPPORTED = [
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
