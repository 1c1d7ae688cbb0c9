"""Which statement stands first in a table of short texts of many trades."""

import pytest

from app.wings.offline import OfflineChatModel
from app.wings.offline.matching import words_of
from app.wiring.models import word_similarity
from tests.app.wings.offline.asking_offline import UNSURE, ask, is_not_sure, prompt, reply_to
from tests.cases import cases

NEAR = [0.8, 0.8, 0.8]

LOANS = (
    "[Lending > Fines]\n| Reader | Returned late | Fine |\n|---|---|---|\n"
    "| Adult | up to 7 days before the reminder | none |\n"
    "| Groups (5 readers or more) | 3-14 days | 20 % |\n| Groups (5 readers or more) | 15 days or more | 50 % |\n"
    "| Family (two adults) | 2 days or less | 1 € |"
)
OPEN = "[Hours > Hours]\n| Branch | Sat | Sun | Lift |\n|---|---|---|---|\n| Central | 10-16 | closed | no |"
ROOMS = "[Rooms]\nGroup rooms can be booked for up to 3 hours a day, two weeks ahead."
PAID = "[Parking > Prices]\nWe take euro, Visa and cheques.\n\nElectric cars pay 3 € an hour."
DOGS = "[Animals > Where dogs may not go]\n## Where dogs may not go\n- the café\n- the reading room"
PICK_UP = "[Cancelling]\n- up to 48 hours before pick-up: full refund\n- later than 48 hours before pick-up: half of it"
INCLUDED = "| Part of the price | Never part |\n|---|---|\n| Breakfast | Parking |\n| Linen | Insurance |"
HOURS = "The shop is open Mon-Fri. On Mondays, when we are shut, use the key box. At weekends call the night line."
SIZES = "| Height | Frame |\n|---|---|\n| 159-166 cm | S |\n| 167-174 cm | M |\n| 175-182 cm | L |"
CUT_OFF = "An order that is recorded before 15:00 leaves on the day.\n\nAn order after 15:00 leaves a day later."
CURTAINS = (
    "| Service | Done here | Needs |\n|---|---|---|\n| Curtain cleaning (CRS) | yes | a deposit |\n\n"
    "| Work | Takes |\n|---|---|\n| Curtains and rugs | 4-6 days |\n| Shirts | 2 days |"
)
HALL = (
    "There are two benches for smoking by the gate, open until 22:00.\n\n"
    "Smoking and candles are forbidden in rooms and halls."
)
PONIES = "| Stable | North | South |\n|---|---|---|\n| Ponies welcome | ✓ | |\n| Water tap | ✓ | ✓ |\n| Lamp | | ✓ |"
LOCKER = "[Mail]\nFrom: Front Desk <desk@baths.example>\nTo: all@baths.example\n\nThe desk hands out locker keys."
LATE = "Nothing is charged at first. Then we add interest. Please tell us early."
STALLS = "| Stall | Rent |\n|---|---|\n| Corner | {} € |\n| Middle | 20 € |"
RENTS = (
    f"[Old stalls > Rents]\nThese rents applied until 31 March 2021.\n\n{STALLS.format(25)}",
    f"[Stalls > Rents]\nAll rents apply from 1 April 2021.\n\n{STALLS.format(31)}",
)
HIRE = (
    "[Hire > Prices]\n| Hire | Low season | High season |\n|---|---|---|\n| Child 4-12 | 5 € | 7 € |\n"
    "| Child under 4 | 1 € | 2 € |\n| Boat up to 5 m | 31 € | 42 € |\n| Boat over 5 m | 38 € | 52 € |"
)
EASTER = (
    "[Hours]\nOn Good Friday and Easter Monday we open from 10 to 12.\n\n"
    "| Day | Open |\n|---|---|\n| Thursday | 9-18 |\n| Friday | 9-17 |\n| Saturday | 9-12 |"
)
CREW = (
    "[Doors > Times]\n| Days | Kitchen | Friends with a key |\n|---|---|---|\n| Monday to Friday | 8-18 | always |",
    "[Crew]\n| Name | Work |\n|---|---|\n| Ida Moe | Kitchen |",
)
CAMP = (
    "[Camp]\n| Season | Dates | Tent |\n|---|---|---|\n| Low | 1 November – 31 March | £12 |\n"
    "| Middle | 1 April – 14 June | £16 |\n| High | 15 June – 15 September | £22 |\n\n"
    "The pool opens at 8 am. The shop is open daily from 1 May to 30 September."
)
NOTICE = (
    "[Lessons > Cancelling]\n- Cancel at least 48 hours ahead: nothing to pay.\n"
    "- Between 48 and 24 hours: half of the lesson.\n- Less than 24 hours: the whole lesson."
)
NIGHT = "[Hall > Rules]\nMusic may be played until 22:00.\n\nWine can be bought in the hall after 17:00."
ROOM_HIRE = (
    "[Store > Rent]\n| Unit | Ground floor, up to 12 weeks | Upper floor, up to 12 weeks |\n|---|---|---|\n"
    "| 25 sq ft | £17 | £15 |\n| 50 sq ft | £29 | £26 |\n| 75 sq ft | £37 | £33 |\n| 100 sq ft | £48 | £43 |",
    "[Store > Rules]\nThe ground floor costs more. Rent is paid in advance. A unit costs a deposit of £50.",
)
CUTS = (
    "[Salon]\n| Cut | Senior | Junior | Time |\n|---|---|---|---|\n"
    "| Short hair | £42 | £22 | 45 min |\n| Long hair | £52 | £28 | 60 min |"
)
FIRST = {
    "long is no question where it tells rows apart": [(CUTS, "cheapest cut for long hair", "Long hair – ")],
    "a range in the name of a column says no figure that names a row": [
        (
            "\n\n".join(ROOM_HIRE),
            "how much is 100 sq ft on the ground floor for 8 weeks",
            "100 sq ft – Ground floor, up to 12 weeks: £48",
        )
    ],
    "a label below the words that make it a sentence": [
        (
            "[PIL Guide > Equipment]\nPIL offers these containers:\n- Reefer containers\n- Tank containers",
            "Does PIL offer reefer containers?",
            "PIL offers these containers: Reefer containers",
        ),
        (DOGS, "can a dog come into the reading room", "Where dogs may not go: the reading room"),
    ],
    "a limit answers a figure within it with yes and one beyond it without": [
        (ROOMS, "Can I book a group room for 2 hours?", "Yes. Group rooms can be booked"),
        (ROOMS, "Can I book a group room for 5 hours?", "Group rooms"),
    ],
    "later than some time before is less than it": [
        (PICK_UP, "cancel 1 day before pick-up refund", "later than 48 hours before pick-up: half of it")
    ],
    "a cell that says no answers with its day in short": [
        (OPEN, "is central open on sunday", "No. Central – Sun: closed; Sat: 10-16"),
        (OPEN, "is central open on saturday", "Yes. Central – Sat: 10-16"),
    ],
    "an amount that is charged is a fee": [
        (
            "[Fines]\nFor each fine we charge 29 EUR for handling.\n\nTolls are paid by the customer.",
            "fine handling fee",
            "For each fine we charge 29 EUR",
        )
    ],
    "a row that alone holds a word of the title": [
        (f"[Prices and Insurance > What is included]\n{INCLUDED}", "is insurance part", "Linen – Never part: Insurance")
    ],
    "what people type meets what is written": [
        (
            LOANS,
            "group of 6 readers, 10 days late?",
            "Groups (5 readers or more) – Returned late: 3-14 days; Fine: 20 %",
        ),
        (LOANS, "fine for a family 1 day late", "Family (two adults)"),
        (
            "[Rooms > Times]\nCheck-in starts at 3 pm. Check-out is until 11 am.",
            "what time is checkout",
            "Check-out is",
        ),
        (PAID, "what does an EV pay", "Electric cars pay"),
        (
            "[Desk > ID]\nA driving licence is not accepted. A passport is.",
            "do you accept a driving licence as id",
            "No. A driving licence is not accepted.",
        ),
    ],
    "what permits or forbids answers whether something is allowed": [
        (f"[Rules > Hall]\n{HALL}", "can we smoke on a balcony", "Smoking and candles are forbidden"),
        (f"[Yard > Stables]\n{PONIES}", "are ponies allowed in south", "No. Ponies welcome – South: no; North: yes."),
    ],
    "an amount of money is a surcharge": [
        (
            "[Post > Bulky]\nBulky parcels cost 7 € on top. They take a day.",
            "surcharge for bulky parcels",
            "Bulky parcels",
        )
    ],
    "a table that holds no more gives way to the one that holds": [
        ("\n\n".join(RENTS), "how much is a corner stall", "Corner – Rent: 31 €")
    ],
    "a question is not its own answer": [
        (
            "[Skates > Skates]\nDo members pay for skates? They do on Sundays.",
            "do members pay for skates",
            "They do on Sundays.",
        )
    ],
    "the figure of a code counts nothing": [
        (
            "[Prices]\n| Code | Work | Price |\n|---|---|---|\n| K2 | Sole | 18 € |\n| K3 | Two or more soles | 30 € |",
            "price of K2",
            "K2 – Price: 18 €; Work: Sole",
        )
    ],
    "a row of another country is none of a way": [
        (
            "[Papers > Exports from Norway]\n| To | Papers |\n|---|---|\n| Europe | boat papers for sea freight |\n\n"
            "Chile asks for a green form.",
            "which boat papers for sea freight from norway to chile",
            "Chile asks for a green form.",
        )
    ],
    "a weekday in short says when": [
        (
            "[Crew]\nThe steward book is kept by the door.\n\n| Crew | Hours |\n|---|---|\n| Stewards | Wed 18-20 |",
            "when can i reach the stewards",
            "Stewards – Hours: Wed 18-20",
        )
    ],
    "the name of a column is nobody's": [("\n\n".join(CREW), "who is in the kitchen", "Ida Moe")],
    "a time within the limit of another thing says nothing": [
        (NIGHT, "can we buy wine in the hall at 3pm", "Wine can be bought")
    ],
    "the head of an e-mail answers nothing": [(LOCKER, "what does the front desk do", "The desk hands out")],
    "a feast is not its weekday": [
        (EASTER, "what time are you open on a friday", "Friday – Open: 9-17"),
        (EASTER, "open on good friday?", "On Good Friday and Easter Monday we open from 10 to 12."),
    ],
    "a figure within the range of a row is said by it, not by a row with the figure of something else": [
        (HIRE, "price for a boat of 4 m", "Boat up to 5 m"),
    ],
    "what answers and not what stands first": [
        (f"[Handbook > If rent is late]\n{entry}", question, first)
        for question, entry, first in (
            ("who do i call on sundays", HOURS, "At weekends"),
            ("im 178 tall which frame", SIZES, "175-182 cm"),  # Without its unit.
            ("when does an order leave that i place at 4pm", CUT_OFF, "An order after 15:00"),
            ("curtain cleaning crs how many days", CURTAINS, "Curtains and rugs – Takes: 4-6 days"),
            ("what happens if i am late with the rent", LATE, "Nothing is charged at first. Then we add interest."),
        )
    ],
}


@pytest.mark.parametrize(("entry", "question", "first"), cases(FIRST))
def test_the_statement_that_answers_stands_first(entry, question, first):
    answer = ask(question, entry, model=OfflineChatModel(similarity=word_similarity()), scores=NEAR)
    assert answer.removeprefix(UNSURE).strip("- \n").startswith(first)
    assert not answer.startswith(UNSURE) or not first.startswith(("Yes", "No. ", "For each", "Bulky", "Ponies"))


@pytest.mark.parametrize(
    ("question", "passage", "words"),
    [
        ("Who initials the blue form?", "Meals come at noon. The dietician initials the blue form.", "dietician"),
        ("What is the address of the bin team?", "Write to the bin team (bins@harrow.example).", "bins@harrow"),
        ("What is the number of the porter?", "The lift is slow.\n\nAt night the porter is on 0711 900 12", "900 12"),
        ("When is closing time?", "- Opening: 06:30\n- Closing: 21:15\n- Gate: blue", "21:15"),
        ("What does hall B seat?", "Hall B seats 140 people.", "140"),
    ],
)
def test_a_statement_that_holds_all_that_is_asked_answers_it(question, passage, words):
    answer = ask(question, f"[House rules > Day]\n{passage}", scores=[0.5])
    assert words in answer
    assert not is_not_sure(answer)


IMPORT_PAPERS = """[Thailand Guide > Standard Documents]
1. Customs Import Entry Form
2. Commercial Invoice
3. Packing List
4. Letter of Credit (if applicable)"""


def test_the_items_of_a_list_that_is_asked_for_are_no_rivals():
    reply = reply_to("what documents do i need to import into thailand", IMPORT_PAPERS, scores=[0.9])
    assert reply.response_metadata["match"] > 0.9
    assert "Packing List" in reply.text


RULING = """[Rulings > How do I apply for a ruling?]
How do I apply for a ruling?

1. Prepare samples
2. Submit the form
3. Pay the application fee: S$75
4. Wait: 30 working days"""


@pytest.mark.parametrize(("question", "shown"), [("How much is a ruling?", "S$75"), ("How long to apply?", "30 work")])
def test_of_steps_only_the_one_is_quoted_that_gives_the_figure(question, shown):
    answer = ask(question, RULING, scores=[0.8])
    assert shown in answer
    assert "samples" not in answer


RISK = """[Incoterms > Transfer of risk]
| Term | Risk passes when | Insured by |
|---|---|---|
| FOB | Goods are on board | Buyer |
| CIP | Goods are with the first carrier | Seller |"""


def test_a_column_that_asks_as_the_question_does_answers_it():
    reply = reply_to("when does the risk pass under FOB", RISK, scores=[0.64])
    assert "on board" in reply.text
    assert reply.response_metadata["match"] > 0.9


def test_questions_of_which_none_is_surely_answered_are_quoted_each_by_itself():
    parts = [
        {"question": question, "query": question, "places": [0], "scores": [0.45]}
        for question in ("Who repairs samples?", "Which forms are stamped?")
    ]
    system, asked = prompt("Who repairs samples? Which forms are stamped?", RULING)
    asked.additional_kwargs["parts"] = parts
    reply = OfflineChatModel().invoke([system, asked])
    assert reply.text.startswith(UNSURE)
    assert reply.text.count(UNSURE) == 1
    assert "samples" in reply.text.partition("2)")[0]
    assert "form" in reply.text.partition("2)")[2].partition("\n")[2]
    assert reply.response_metadata["unsure"]


TARGETS = """[Service Levels > Targets]
| Priority | First response | Update | Resolution target |
|---|---|---|---|
| P1 | 15 minutes | every hour | 4 hours |
| P2 | 30 minutes | every 2 hours | 8 hours |"""


@pytest.mark.parametrize(
    ("asked", "first"), [("resolution target", "Resolution target: 8 hours; First"), ("updates", "Update: every 2")]
)
def test_the_cell_that_is_asked_for_is_said_first(asked, first):
    assert f"P2 – {first}" in ask(f"{asked} P2", TARGETS, scores=[0.8])


@pytest.mark.parametrize("named", ["High season is 15 June to 15 September.", "- High season: June - September"])
def test_a_month_is_the_season_that_the_documents_name(named):
    answer = ask("boat of 6 m in august", f"{HIRE}\n\n{named}", scores=[0.5])
    assert answer.startswith("Boat over 5 m – High season: 52 €")
    assert ask("boat of 6 m in october", f"{HIRE}\n\n{named}", scores=[0.5]).startswith("Boat over 5 m – Low season")


def test_words_that_ask_are_looked_for_where_nothing_else_is_asked():
    boats = "[Boats]\n- The mooring list is 3 months long.\n- The lift needs 20 minutes.\n- Paint dries in 2 days."
    assert is_not_sure(ask("how long is the waiting list", boats, scores=[0.5]))
    assert not is_not_sure(ask("how long is the waiting list", boats.replace("mooring", "waiting"), scores=[0.5]))


def test_what_happens_otherwise_is_said_with_what_it_is_otherwise_than():
    entry = "[Boats]\nCall by noon to give a boat back. Otherwise we charge £9 for each hour."
    assert ask("charge for each hour", entry, scores=[0.8]).startswith("Call by noon to give a boat back. Otherwise")


def test_what_is_open_in_a_month_is_no_name_of_it():
    entry = "[Pool]\n| Pool | Open | Shut |\n|---|---|---|\n| Outdoor | 9-18 | 18 |\n\nOpen: May to September."
    assert not words_of(entry).long_forms


def test_a_name_without_the_office_that_is_asked_for_is_not_sure():
    pool = "[Prices]\nBrackwater Pool and Sports Centre.\n\nValid from 1 September."
    assert is_not_sure(ask("who is the mayor of brackwater", pool, scores=[0.6]))


@pytest.mark.parametrize(
    ("day", "price"),
    [("20 june", "£22"), ("10 june", "£16"), ("2 Feb", "£12"), ("boxing day", "£12"), ("5 May", "£16")],
)
def test_a_day_is_looked_up_in_the_parts_of_the_year(day, price):
    assert f"Tent: {price}" in ask(f"price of a tent on {day}", CAMP, scores=[0.6]).splitlines()[0]


def test_parts_of_the_year_of_something_else_hold_no_day():
    assert "Low" not in ask("is the pool open on 2 february", CAMP, scores=[0.6]).splitlines()[0]
    assert ask("is the shop open on 4 june", CAMP, scores=[0.6]).startswith("The shop is open daily")


def test_steps_of_a_scale_are_said_together_where_none_is_asked_for():
    whole = ask("can i cancel tomorrow's lesson", NOTICE, scores=[0.7])
    assert "48 hours ahead" in whole
    assert "whole lesson" in whole
    step = ask("can i cancel a lesson 30 hours before", NOTICE, scores=[0.7])
    assert "half of the lesson" in step
    assert "whole lesson" not in step


OPENING = (
    "[Hours]\n| | Central | North | Van |\n|---|---|---|---|\n| Monday | 9 am - 7 pm | closed | 10 am - 3 pm |\n\n"
    "| Room | Seats | Price | Screen |\n|---|---|---|---|\n| Garden | 24 | £12 | ✓ |\n| Pod | 4 | £6 | ✗ |"
)


@pytest.mark.parametrize(
    ("question", "word"),
    [
        *(("is north open on monday", "No. "), ("is central open on monday", "Yes. ")),
        *(("is there a screen in the garden room", "Yes. "), ("does the pod have a screen", "No. ")),
        ("is north closed on monday", ""),
    ],
)
def test_the_cell_that_is_asked_for_says_yes_or_no(question, word):
    answer = ask(question, OPENING, model=OfflineChatModel(similarity=word_similarity()), scores=[0.7])
    assert answer.partition("–")[0] in {f"{word}{name} " for name in ("Monday", "Garden", "Pod")}


SHIPS = (
    "[Times]\n| Way | Days | Departs |\n|---|---|---|\n| Selmar to Oyen | Monday to Friday | 7:15 |\n"
    "| Selmar to Oyen | Sat and Sun | 9:00 |\n| Oyen to Selmar | Monday to Friday | 9:45 |\n"
    "| Oyen to Selmar | Sat and Sun | 11:30 |"
)


@pytest.mark.parametrize(
    ("asked", "time"),
    [("to oyen on tuesday", "7:15"), ("from oyen on saturday", "11:30"), ("to oyen on sunday", "9:00")],
)
def test_a_day_and_a_way_are_of_one_row(asked, time):
    answer = ask(f"what time is the first boat {asked}", SHIPS, scores=[0.5])
    assert f"Departs: {time}" in answer
    assert answer.count("Departs") == 1


CLUBS = (
    "[School > Dinners and clubs]\nDinners are free for Year 1 and Year 2.\n\n- black shoes, no trainers\n\n"
    "| Club | Years | Cost |\n|---|---|---|\n| Chess | 4 to 6 | £18 |\n| Art | 1 to 4 | £36 |"
)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        *(
            ("can my year 2 child do art", "Art – Years: 1 to 4"),
            ("which clubs are for year 5", "Chess – Years: 4 to 6"),
        ),
        *(("dinners year 1", "Dinners are free"), ("are trainers ok", "black shoes, no trainers")),
    ],
)
def test_a_numbered_year_is_looked_up_in_its_column_and_a_denying_item_says_something(question, first):
    assert first in ask(question, CLUBS, scores=[0.6]).removeprefix(UNSURE).strip().splitlines()[0]


def test_tables_of_two_sections_are_two():
    table = "| Day | Open |\n|---|---|\n| Monday to Friday | {} |\n| Saturday | {} |\n| Sunday | closed |"
    sections = ("Bridge Street", "7:30-18:30", "8:30-16:00"), ("Station", "6:45-19:30", "9:00-14:00")
    shops = [f"[Shops > {name}]\n{table.format(*hours)}" for name, *hours in sections]
    model = OfflineChatModel(similarity=word_similarity())
    answer = ask("when is the station shop open on saturday", *shops, model=model, scores=[0.5, 0.6])
    assert answer.startswith("Saturday – Open: 9:00-14:00. [Shops > Station]")


def test_a_mistyped_plural_is_the_singular_of_a_row():
    rows = "[Bedding]\n| Item | Price |\n|---|---|\n| Pillow | £9.50 |\n| Duvet | £21.00 |"
    answer = ask("how much for pilows", rows, model=OfflineChatModel(similarity=word_similarity()), scores=[0.5])
    assert answer.startswith("Pillow – Price: £9.50")


def test_a_line_of_one_word_and_its_value_answers():
    shop = "[Shop]\nAddress: Mill Lane 40, Thornby\nPhone: 01632 960 330\nClosed: Easter Sunday, 25 December"
    assert ask("phone number please", shop, scores=[0.6]).endswith("Phone: 01632 960 330 [Shop]")
