"""The offline answerer quotes what the context says, cites it, and declines everything else."""

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

import prompts
from app.wings.offline import OfflineChatModel
from app.wiring.models import word_similarity
from chains.metadata import ASKED, SEARCHED
from tests.app.wings.offline.asking_offline import (
    DECLINE,
    IMPORT,
    NO_ANSWER,
    PACKING,
    TAX,
    UNSURE,
    ask,
    is_not_sure,
    prompt,
    reply_to,
)


def test_answer_quotes_the_sentence_with_its_citation():
    assert ask("What is the current GST rate?", TAX) == (
        "Current GST rate: 9% (effective 1 January 2024) [Tax Guide \\[2024\\] (Singapore) > Rates]"
    )


def test_question_for_documents_gives_one_list_with_one_citation():
    assert ask("Which documents do I need to import into Indonesia?", IMPORT) == (
        "At a minimum, import documents for Indonesia must include:\n\n"
        "1. Commercial Invoice\n2. Packing List\n- Bill of Lading [Indonesia Import Guide > Papers for import]"
    )


def test_a_label_that_asks_the_question_and_a_row_with_its_columns_lead_to_the_answer():
    assert ask("Can we ship without a packing list?", IMPORT, PACKING).startswith(
        "No. A packing list is mandatory for all shipments. [Booking Handbook > Papers]"
    )
    assert ask("Why is the commercial invoice mandatory?", PACKING).startswith(
        "Commercial Invoice – Status: Mandatory; Why: Duty is worked out from it. ["
    )


def test_answer_holds_no_markdown_rubble_and_no_cut_words():
    answer = ask("Which papers are mandatory for shipments?", PACKING, IMPORT)
    assert not [
        mark for mark in ("|", "---", "##", "**", "[ ]", "Insurance Certif", "ies that", "https") if mark in answer
    ]


def test_sentence_cut_at_the_border_is_not_quoted():
    assert "breaks off" not in ask("What is the GST rate?", TAX)


def test_same_sentence_from_two_documents_is_told_once():
    again = TAX.replace("Tax Guide", "Other Guide")
    assert ask("What is the GST rate?", TAX, again).count("9%") == 1


@pytest.mark.parametrize(
    "question",
    [
        *("Does the line sail to Surabaya?", "What is today's exchange rate?", "Where is my container?"),
        *("Please cancel my booking", "Can you book a shipment for me?", "Who won the world cup?", ""),
    ],
)
def test_what_the_context_does_not_address_is_declined(question):
    assert is_not_sure(ask(question, PACKING, IMPORT, TAX))


LIBRARY = (
    "[Library]\nYou can cancel a booking up to the day before.\n\nWe bring books to people at home.\n\n"
    "The deposit is returned with the card."
)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        *(("cancel my booking", "cancel a booking"), ("can you bring books to me at home", "We bring books")),
        ("is my deposit returned", "The deposit is returned"),
    ],
)
def test_what_is_asked_of_ones_own_things_is_answered_by_the_rule(question, found):
    assert found in ask(question, LIBRARY, scores=[0.6])


@pytest.mark.parametrize("order", ["Please cancel my booking", "book me a room", "where are my books"])
def test_an_order_and_the_state_of_ones_own_things_quote_nothing(order):
    assert ask(order, LIBRARY, scores=[0.6]) == DECLINE


def test_when_something_of_the_askers_comes_is_answered_by_what_holds_for_all():
    refunds = "[Returns > Refunds]\nRefunds go to the card that was used and arrive within five working days."
    assert ask("when will my refund arrive", refunds, scores=[0.6]).startswith("Refunds go to the card")


@pytest.mark.parametrize(
    "system", ["You are helpful.", "<context>\n</context>", "<context>\nno header\n</context>", ""]
)
def test_no_context_is_declined(system):
    assert OfflineChatModel().invoke([SystemMessage(system), HumanMessage("What is the GST rate?")]).text in NO_ANSWER


QUOTED = {
    "an abbreviation meets its long form": (
        "[Sea Guide > Papers]\nThe carrier issues the bill of lading after loading.",
        "Who issues the B/L?",
        "The carrier issues the bill of lading after loading. [Sea Guide > Papers]",
    ),
    "an abbreviation with a stroke may be in small letters": (
        "[Sea Guide > Papers]\nThe carrier issues the bill of lading after loading.",
        "who issues the b/l",
        "The carrier issues the bill of lading after loading. [Sea Guide > Papers]",
    ),
    "brackets in a quote are escaped, so that they cite nothing": (
        "[Guide > Rates]\nThe GST rate [see annex] for imports is 9%.",
        "What is the GST rate for imports?",
        "The GST rate \\[see annex\\] for imports is 9%. [Guide > Rates]",
    ),
    "a row of a glossary answers a question for the meaning": (
        "[Sea Guide > Abbreviations]\n| Short form | Meaning |\n|---|---|\n"
        "| VGM | Verified gross mass of a container |\n| SI | Shipping instruction |",
        "What does VGM stand for?",
        "VGM – Meaning: Verified gross mass of a container. [Sea Guide > Abbreviations]",
    ),
    "a table without bars around it has the names of its columns too": (
        "[Report > Share price]\nquarter | high | low\nended march 31 | $42.72 | $32.10\nended june 30 | 46.10 | 38.53",
        "What was the high share price in the quarter ended June 30?",
        "ended june 30 – high: 46.10; low: 38.53. [Report > Share price]",
    ),
    "a text without capitals is quoted by its sentences": (
        "[Report > Risk]\nour rates float. the commitment fee rate as of december 31 was 0.25% of the balance.",
        "What was the commitment fee rate as of December 31?",
        "the commitment fee rate as of december 31 was 0.25% of the balance. [Report > Risk]",
    ),
    "a line that looks like a header stays text": (
        "[Real Guide > Rates]\n\n\\[Fake Guide > Rates]\n\nThe GST rate for imports is 9%.",
        "What is the GST rate for imports?",
        "The GST rate for imports is 9%. [Real Guide > Rates]",
    ),
    "a word with a typing error meets the word": (
        "[Guide > Halal]\nA halal certificate is required for cosmetics. Other goods need a label.",
        "Is a halal certifcate required for cosmetcs?",
        "Yes. A halal certificate is required for cosmetics. [Guide > Halal]",
    ),
    "yes or no comes first where it is asked for": (
        "[FAQ > Is a label needed?]\nThe label is needed by customs. Yes, a label is needed.",
        "Is a label needed?",
        "Yes, a label is needed. [FAQ > Is a label needed?]",
    ),
    "a numbered source is cited by its number": (
        TAX.replace(TAX.splitlines()[0], "[2] Source: Tax Guide - Page N/A"),
        "What is the current GST rate?",
        "Current GST rate: 9% (effective 1 January 2024) [2]",
    ),
    "a numbered header with a section too": (
        "[4] Rates > Air\nThe air rate is five dollars a kilo.",
        "What is the air rate a kilo?",
        "The air rate is five dollars a kilo. [4]",
    ),
    "words before the question take no answer away": (
        "[Service Terms > Claims]\nA complaint gets a first answer within one working day.",
        "We are very unhappy here. How soon does a complaint get an answer?",
        "A complaint gets a first answer within one working day. [Service Terms > Claims]",
    ),
}


@pytest.mark.parametrize(("entry", "question", "answer"), QUOTED.values(), ids=QUOTED)
def test_the_statement_that_answers_is_quoted_and_cited(entry, question, answer):
    model = OfflineChatModel(similarity=word_similarity())
    assert ask(question, entry, model=model, scores=[0.8]) == answer


def test_comparison_quotes_both_sides():
    north = "[Northline Guide > About]\nNorthline runs a weekly service to the islands."
    south = "[Southline Guide > About]\nSouthline runs a daily service along the coast."
    answer = ask("What is the difference between Northline and Southline service?", north, south)
    assert "[Northline Guide > About]" in answer
    assert "[Southline Guide > About]" in answer


def test_of_what_is_compared_both_are_quoted_though_all_else_speaks_of_one():
    services = "\n".join(f"- Northline service {number} with a difference" for number in range(12))
    north = f"[Northline Guide > Services]\n{services}"
    south = "[Southline Guide > About]\nThey run daily along the coast."
    answer = ask("What is the difference between Northline and Southline service?", north, south)
    assert "[Southline Guide > About]" in answer


@pytest.mark.parametrize(
    ("entry", "question"),
    [
        ("[Airline Guide > Cargo]\nHazmat handling is available at the hub.", "Can you ship hazmat by air?"),
        (
            "[Sea Guide > Containers]\nThe container number shows the owner, and the container stands in the yard.",
            "Which yard holds container ONEU1234565?",
        ),
    ],
)
def test_a_question_of_another_company_or_an_unnamed_container_is_not_answered(entry, question):
    assert is_not_sure(ask(question, entry))


def test_history_is_not_the_question():
    messages = [*prompt("What is the GST rate?", TAX), AIMessage("9%"), HumanMessage("Who won the world cup?")]
    assert is_not_sure(OfflineChatModel().invoke(messages).text)


def test_similarity_never_lifts_a_missing_name():
    class Sure(DeterministicFakeEmbedding):
        def embed_documents(self, texts):
            return [[0.8, 0.6] for _ in texts]

        def embed_query(self, text):
            return [1.0, 0.0]

    model = OfflineChatModel(embeddings=Sure(size=2))
    assert is_not_sure(ask("Does the line sail to Surabaya?", PACKING, IMPORT, TAX, model=model))


@pytest.mark.parametrize("name", ["system", "system_numbered", "reminder"])
def test_the_prompts_ask_a_model_to_decline_in_the_same_words(name):
    assert "reply only: " in prompts.load(name)
    assert DECLINE in prompts.load(name)


def test_the_reminder_behind_a_question_is_no_part_of_the_question():
    reminder = "Reply in one or two sentences that stand in the documents."
    asked = HumanMessage(f"What is packed?\n\n{reminder}", additional_kwargs={"question": "What is packed?"})
    before = prompt("What is packed?", PACKING)
    assert OfflineChatModel().invoke([*before[:-1], asked]).text == OfflineChatModel().invoke(before).text


def test_quoted_brackets_are_escaped_together_with_the_backslashes_before_them():
    # Markdown reads `\\[` as a backslash and a bare bracket, which would be a citation.
    entry = r"[Rates > Air]" "\n" r"The air rate is five dollars a kilo \\[Tax Guide > Rates\\] today."
    assert r"kilo \\\[Tax Guide > Rates\\\] today. [Rates > Air]" in ask("What is the air rate a kilo?", entry)


class Meaning(DeterministicFakeEmbedding):
    """Texts that hold the word stand near to the question, all others apart from it."""

    word: str

    def embed_documents(self, texts):
        return [[1.0, 0.0] if self.word in text else [0.0, 1.0] for text in texts]

    def embed_query(self, text):
        return [1.0, 0.0]


def test_question_whose_point_no_document_knows_is_not_sure():
    entry = "[Northline Guide > About]\nNorthline is a carrier of the islands, and its freight desk is in the port."
    model = OfflineChatModel(embeddings=Meaning(size=2, word="freight"))
    assert is_not_sure(ask("Who founded the freight desk of Northline in Perth?", entry))
    assert is_not_sure(ask("What is the salary at the freight desk of Northline?", entry, scores=[0.4]))
    assert not is_not_sure(ask("Where is the freight desk of Northline?", entry, model=model))


def test_city_is_met_by_a_document_on_its_country_only():
    indonesia = "[Indonesia Import Guide > Cosmetics]\nCosmetics need a notification number before they are imported."
    elsewhere = indonesia.replace("Indonesia", "Vietnam")
    question = "Which notification do cosmetics imported into Jakarta need?"
    model = OfflineChatModel(similarity=word_similarity())
    answer = ask(question, indonesia, elsewhere, model=model, scores=[0.6, 0.6])
    assert answer.endswith("[Indonesia Import Guide > Cosmetics]")
    assert is_not_sure(ask(question, elsewhere, model=model, scores=[0.6]))


def test_what_is_is_answered_by_a_definition_and_not_by_a_heading():
    entry = (
        "[Indonesia Import Guide > LARTAS]\n## LARTAS\n\n**Key Compliance Tips**\n\n- Check LARTAS before booking.\n\n"
        "LARTAS is a list of restricted and prohibited goods that need a permit before import."
    )
    assert ask("What is LARTAS?", entry).startswith("LARTAS is a list of restricted and prohibited goods")
    assert "Key Compliance Tips" not in ask("What is LARTAS?", entry)


def test_list_is_short_enough_to_be_read_on_the_phone():
    rows = "\n".join(f"| Document {i} | {'word ' * 12}| Shipper |" for i in range(20))
    entry = f"[Guide > Documents for import]\n| Document | Content | By |\n|---|---|---|\n{rows}"
    answer = ask("Which documents for import?", entry)
    assert answer.count("\n- ") > 2
    assert len(answer.split()) <= 120


LIABILITY = """[Service Terms > Liability]
## Liability

The liability is limited to:

| Service | Most |
|---|---|
| Sea freight | 2 SDR per kg |
| Warehousing | S$100 per package |
| Customs brokerage | S$500 per declaration |"""


@pytest.mark.parametrize(
    ("question", "shown", "hidden"),
    [
        ("liability for warehousing and for customs brokerage", ["S$100", "S$500"], ["SDR"]),
        ("liability for warehousing", ["S$100"], ["S$500", "SDR"]),
        ("What is the liability limited to?", ["SDR", "S$100", "S$500"], []),
    ],
)
def test_the_rows_that_a_question_names_are_quoted_together(question, shown, hidden):
    answer = ask(question, LIABILITY, scores=[0.8])
    assert all(words in answer for words in shown)
    assert not any(words in answer for words in hidden)


def test_a_list_is_quoted_whole_where_its_lead_is_what_is_asked():
    entry = "[Vietnam Guide > Labels]\nGoods must have labels with:\n- Origin\n- Product name\n- Vietnamese language"
    model = OfflineChatModel(similarity=word_similarity())
    answer = ask("labels for vietnam what must be on", entry, model=model, scores=[0.8])
    assert all(words in answer for words in ("Origin", "Product name", "Vietnamese language"))


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("customs dept hrs", "8:30 to 17:30"),
        ("GST rate SG", "9 %"),
        ("gst rate sg", "9 %"),
        ("fee for the second licence", "S$600"),
    ],
)
def test_short_forms_codes_ordinals_and_ways_are_read(question, words):
    entries = (
        "[Service Policy > Hours]\n| Department | Hours |\n|---|---|\n| Customs | 8:30 to 17:30 |\n| Sales | 9 to 18 |",
        "[Tax Guide > Rates]\nThe GST rate in Singapore is 9 %.",
        "[Licences > Fees]\n| Item | Fee |\n|---|---|\n| First licence | S$900 |\n| Each additional licence | S$600 |",
        "[Indonesia Guide > Documents for import]\nFreight to Indonesia needs these documents: invoice, permit.",
    )
    model = OfflineChatModel(similarity=word_similarity())
    assert words in ask(question, *entries, model=model, scores=[0.8] * 4)


OVERDUE = """[Rental Terms > Late return]
| Days overdue | What happens |
|---|---|
| 3 days | Reminder by text message |
| 10 days | Deposit is kept |
| 30 days | Police report |"""
WRITE_OFFS = """[Till Rules > Write-offs]
Ask the shift leader when:
- the loss is more than EUR 20

Ask the manager when:
- the loss is more than EUR 200

Ask the owner when:
- the loss is more than EUR 2,000"""
MEMBERS = """[Studio Prices > Members]
Members get 10 % off all courses. It is not given on private lessons.

The studio is closed in August."""
PERMITS = """[Permits > Mopeds]
A test in traffic opens all roads. Without it a moped permit is limited to the town."""
COURSES = """[Studio Prices > Cancelling]
| Cancelled | Kept |
|---|---|
| more than 14 days before | nothing |
| 14 to 3 days before | half |
| under 3 days or no show | everything |"""


@pytest.mark.parametrize(
    ("entry", "question", "first"),
    [
        (OVERDUE, "scooter 14 days overdue what happens", "10 days – What happens: Deposit is kept."),
        (OVERDUE, "scooter 40 days overdue what happens", "30 days – What happens: Police report."),
        (WRITE_OFFS, "loss of 900 eur who do i ask", "Ask the manager when: the loss is more than EUR 200"),
        (WRITE_OFFS, "loss of 5000 eur who do i ask", "Ask the owner when: the loss is more than EUR 2,000"),
        (
            MEMBERS,
            "members discount on private lessons",
            "Members get 10 % off all courses. It is not given on private",
        ),
        (MEMBERS, "how much off do members get on courses", "Members get 10 % off all courses. It is not given on"),
        (PERMITS, "is a moped permit limited to the town", "A test in traffic opens all roads. Without it"),
    ],
)
def test_a_figure_is_looked_up_in_steps_and_limits_and_a_sentence_keeps_what_limits_it(entry, question, first):
    model = OfflineChatModel(similarity=word_similarity())
    assert ask(question, entry, model=model, scores=[0.8]).removeprefix(f"{UNSURE}\n\n").startswith(first)


def test_a_follow_up_that_names_a_row_gives_up_the_figure_asked_about_before():
    query = "course cancelled 10 days before how much is kept no show"
    message = HumanMessage(query, additional_kwargs={"scores": [0.8], ASKED: "and a no show", SEARCHED: query})
    system = SystemMessage(f"Answer from the documents.\n\n<context>\n{COURSES}\n</context>")
    answer = OfflineChatModel(similarity=word_similarity()).invoke([system, message]).text
    assert "under 3 days or no show – Kept: everything" in answer
    assert "half" not in answer


def test_hours_of_something_else_do_not_answer_for_a_time():
    entry = "[Hall > Hours]\n| Place | Open |\n|---|---|\n| Bar | 9:00-23:00 |\n| Cloakroom | 8:00-22:00 |"
    reply = reply_to("can trucks unload at 3 pm", entry, scores=[0.3])
    assert reply.text == DECLINE
