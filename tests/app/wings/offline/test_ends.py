"""Which statements the offline answerer may quote, and what it tells where it quotes none."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda

from app.wings.offline import OfflineChatModel
from app.wings.offline.answer import LACKING
from app.wings.offline.evidence import Evidence
from app.wings.offline.matching import words_of
from app.wings.offline.passages import entries
from app.wings.offline.question import read
from app.wiring.models import word_similarity
from benchmarks.offline import offline
from chains import build_chain
from chains.metadata import MATCH, SEARCHED
from chains.text.words import stem
from tests.app.wings.offline.asking_offline import DECLINE, NO_ANSWER, UNSURE, ask, is_not_sure, prompt, reply_to
from tests.corpora import write_documents

NEAR = [0.8, 0.8, 0.8]
SURE = 0.75
THAILAND = "[Thailand Import Guide > Tax]\nThe VAT rate in Thailand is 7 %."
VIETNAM = "[Vietnam Import Guide > Tax]\nThe VAT rate in Vietnam is 10 %."


@pytest.mark.parametrize("question", ["What is the VAT rate in Vietnam?", "what is the vat rate in vietnam"])
def test_another_countrys_figure_is_not_quoted(question):
    model = OfflineChatModel(similarity=word_similarity())
    assert ask(question, THAILAND, model=model, scores=NEAR) in NO_ANSWER
    assert ask(question, THAILAND, VIETNAM, model=model, scores=NEAR) == (
        "The VAT rate in Vietnam is 10 %. [Vietnam Import Guide > Tax]"
    )


def test_an_unsure_reply_tells_which_names_no_passage_holds():
    office = "[Contact > Offices]\nThe office in Bangkok opens at nine. The office in Singapore opens at eight."
    shanghai = reply_to("When does the office in Shanghai open, and who is Mr Tan?", office, scores=NEAR)
    assert shanghai.response_metadata["missing"] == ["Shanghai", "Mr Tan"]
    assert not reply_to("When does the office in Bangkok open?", office, scores=NEAR).response_metadata["missing"]


@pytest.mark.parametrize(
    ("question", "lacking"),
    [
        *(("how deep is the main pool", ["deep"]), ("how long is the pool open", [])),
        ("when does the pool close in january", []),
        ("can i bring my parrot to the main pool", ["parrot"]),
    ],
)
def test_a_reply_tells_which_nouns_and_dimensions_nothing_in_the_context_holds(question, lacking):
    shop = "[Shop > Hours]\nThe shop opens at 9:00."
    pool = "[Main Pool > Hours]\n| Season | Pool closes |\n|---|---|\n| 1 November - 28 February | 19:00 |"
    reply = reply_to(question, shop, pool, model=OfflineChatModel(similarity=word_similarity()), scores=[0.3, 0.5])
    assert reply.response_metadata["missing"] == lacking


def test_a_reply_tells_which_nouns_only_other_passages_hold():
    desk = "[Visiting > Access]\nTwo wheelchairs and one mobility scooter can be borrowed at the desk."
    bags = "[Delivery > Bulk bags]\nA bulk bag of topsoil weighs roughly 900 kg."
    reply = reply_to("what does the mobility scooter weigh", desk, bags, scores=[0.6, 0.4])
    assert "Two wheelchairs" in reply.text
    assert (reply.response_metadata["missing"], reply.response_metadata["unsaid"]) == ([], ["weigh"])


@pytest.mark.parametrize(
    ("question", "place"), [("when does the childrens pool open", 1), ("who won the world cup", None)]
)
def test_a_decline_names_the_passage_of_the_best_statement_where_something_speaks_for_it(question, place):
    shop, pool = "[Shop > Hours]\nThe shop opens at 9:00.", "[Bath > Hours]\nThe main pool opens at 7:00."
    reply = reply_to(question, shop, pool, scores=[0.3, 0.3])
    assert (reply.text, reply.response_metadata["nearest"]) == (DECLINE, place)


@pytest.mark.parametrize(("similarity", "said"), [(0.2, DECLINE), (0.7, UNSURE)])
def test_a_statement_with_one_word_of_the_question_is_quoted_where_its_passage_is_near(similarity, said):
    garden = "[Garden > Care]\nRoses are watered twice a week in summer. Lawns are cut on Mondays."
    assert ask("Do you sell lawn seeds?", garden, scores=[similarity]).startswith(said)


def test_take_of_how_long_does_it_take_is_no_new_word_of_a_follow_up():
    entry = "[Fees > Survey]\nA site survey costs £75.\n\nA site survey report comes 9 days later.\n\nTake a key along."
    messages = prompt("and how long does it take", entry, scores=[0.6])
    messages[-1].additional_kwargs[SEARCHED] = "how long does it take a site survey cost"
    answer = OfflineChatModel(similarity=word_similarity()).invoke(messages).text
    assert "site survey" in answer.removeprefix(UNSURE).partition("[")[0]


def test_follow_up_on_another_country_is_answered_for_that_country():
    before = prompt("What is the VAT rate in Thailand?", THAILAND, VIETNAM, scores=NEAR)
    after = HumanMessage("and in Vietnam?", additional_kwargs={"scores": NEAR})
    assert OfflineChatModel().invoke([*before, AIMessage("7 %"), after]).text == (
        "The VAT rate in Vietnam is 10 %. [Vietnam Import Guide > Tax]"
    )


def test_the_query_that_was_searched_for_is_what_is_answered():
    *system, asked = prompt("wat is the VTA rate?", VIETNAM, scores=NEAR)
    asked.additional_kwargs["searched"] = "What is the VAT rate in Vietnam?"
    assert "10 %" in OfflineChatModel().invoke([*system, asked]).text


def test_figure_of_a_worked_example_is_not_quoted():
    entry = (
        "[Tax Guide > Calculation]\nImport GST is charged at 9 % of the value.\n\n"
        "**Example:**\n- CIF value of the goods: S$1,500\n- GST = 9 % x S$1,500 = S$135"
    )
    for question in ("A customer imports goods CIF S$2000, how much GST?", "How much GST is charged on goods?"):
        assert "135" not in ask(question, entry, scores=NEAR)


def test_a_figure_of_another_product_is_less_sure():
    entry = "[Import Guide > Permits]\nThe review of a cosmetic takes 14 working days."
    right = reply_to("How long does the review of a cosmetic take?", entry, scores=NEAR)
    other = reply_to("How long does the review of a medicine take?", entry, scores=NEAR)
    assert right.response_metadata["match"] > SURE > other.response_metadata["match"]


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("who runs the ringing course", "The ringing course is on Monday."),
        ("who leads the barge walk", "The barge walk begins at the Mill House."),
        ("price of a tray for six cups", "A tray for two cups costs £9, the highest price."),
        ("how much is the dinner without wine", "The dinner with wine is £60."),
        ("how much is the rope at the old quay", "The old quay has 9 ropes."),
    ],
)
def test_a_statement_on_another_case_or_of_another_kind_is_never_sure(question, statement):
    assert is_not_sure(ask(question, f"[House > Terms]\n{statement}", scores=NEAR))


def test_label_and_link_are_no_answers():
    entry = (
        "[Delivery > Payment]\n## Cash\n- Reduced COD limit\n- Approved account\n\n"
        "## Links\n- [COD limit](https://example.org/cod) of the carrier\n- https://example.org/cod-limit"
    )
    assert ask("What is the COD limit?", entry, scores=NEAR) in NO_ANSWER


def test_two_names_are_answered_one_by_one():
    answer = ask("What is the VAT rate in Thailand and in Vietnam?", THAILAND, VIETNAM, scores=NEAR)
    assert "7 %" in answer
    assert "10 %" in answer


def test_unsure_reply_quotes_the_best_statement_below_a_line_that_says_so():
    entry = "[Incidents > Times]\nA reefer failure gets a first action within 15 minutes.\nThe desk opens at eight."
    reply = reply_to("When is somebody there for a broken fridge?", entry, scores=[0.7])
    assert reply.response_metadata["unsure"]
    assert reply.text.startswith(f"{UNSURE}\n\n")
    assert reply.text.endswith("[Incidents > Times]")


@pytest.mark.parametrize(
    "question", ["What is the surcharge for frozen goods in Northland?", "northland frozen surcharge?"]
)
def test_a_row_that_is_not_there_is_not_answered_by_its_neighbours(question):
    rows = "| Northland | Chilled | 11 % |\n| Northland | Live animals | 26 % |\n| Southmark | Frozen | 19 % |"
    entry = f"[Surcharges]\n| Region | Goods | Surcharge |\n|---|---|---|\n{rows}"
    assert ask(question, entry, scores=NEAR) == DECLINE
    assert "11 %" in ask("What is the surcharge for chilled goods in Northland?", entry, scores=NEAR)


@pytest.mark.parametrize(
    ("question", "cell"),
    [
        ("We call it off two days before departure. What do we owe?", "50 %"),
        ("we cancel 20 days before, cost?", "none"),
        ("And what if we cancel 6 days before departure?", "25 %"),
    ],
)
def test_a_figure_is_looked_up_in_the_ranges_of_a_table(question, cell):
    rows = "| 1-3 days | 50 % |\n| 4 to 7 days | 25 % |\n| more than 7 days | none |"
    entry = f"[Cancelling > Fees]\n| Before departure | You owe |\n|---|---|\n{rows}"
    answer = ask(question, entry, scores=NEAR)
    assert cell in answer
    assert all(other not in answer for other in {"50 %", "25 %", "none"} - {cell})


@pytest.mark.parametrize(
    ("question", "who"),
    [
        ("who approves if its above 50k", "Managing director"),
        ("who approves credit over SGD 20,000", "Director"),
        ("who approves 12k", "Manager"),
        ("who approves under 5k", "Team lead"),
        ("who approves 9k credit", "Manager"),  # What the column counts is no other unit.
    ],
)
def test_a_bound_is_looked_up_in_the_range_beyond_it(question, who):
    rows = "| < SGD 5,000 | Team lead |\n| SGD 5,000 - 20,000 | Manager |\n| SGD 20,000 - 50,000 | Director |"
    entry = f"[Credit > Approval]\n| Credit | Approves |\n|---|---|\n{rows}\n| > SGD 50,000 | Managing director |"
    assert f"Approves: {who}." in ask(question, entry, scores=NEAR).partition("[")[0]


SHORT = "| Short | Long |\n|---|---|\n| **MLR** | Monthly lift report, for the bureau |\n| ROV | Right of visit |"
DUE = "The ROV ends at noon.\n\n- The monthly lift report: by the 5th\n- The fire report: by the 9th"


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("when is the MLR due", "The monthly lift report: by the 5th"),
        ("mlr deadline", "The monthly lift report: by the 5th"),
        ("What does MLR stand for?", "MLR"),
        ("rov", "ROV – Long: Right of visit"),
    ],
)
def test_what_an_abbreviation_stands_for_is_read_where_the_context_tells_it(question, first):
    model = OfflineChatModel(similarity=word_similarity())
    answer = ask(question, f"[Reports > Dates]\n{DUE}", f"[Words]\n{SHORT}", model=model, scores=NEAR)
    assert answer.removeprefix(UNSURE).strip("- \n").startswith(first)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("MLR – Long: Monthly lift report", {"mlr": {"month", "lift", "report"}}),
        ("Send the monthly lift report (MLR) early.", {"mlr": {"month", "lift", "report"}}),
        ("ROV means the right of visit", {"rov": {"right", "visit"}}),
        ("DO NOT: doors need no oil", {}),
        ("The MLR: doors are fine", {}),
    ],
)
def test_an_abbreviation_stands_for_words_beside_it_with_its_initials(text, known):
    assert dict(words_of(text).long_forms) == {short: {stem(word) for word in long} for short, long in known.items()}


def test_a_word_near_to_one_that_the_documents_use_is_not_that_word():
    prices = "[Farm > Prices]\n| Item | Price |\n|---|---|\n| Goat feed | £5 |"
    model = OfflineChatModel(similarity=word_similarity())
    alone, beside = (
        reply_to("how much is sheep feed", prices, other, model=model, scores=[0.8, 0.3]).response_metadata[MATCH]
        for other in ("[Farm > Wool]\nShearing is in May.", "[Farm > Wool]\nThe sheep are shorn in May.")
    )
    assert beside < LACKING < alone


OLD_CARDS = "Cards for ten visits that were bought before 2025 stay valid until 31 December 2027."


@pytest.mark.parametrize(
    ("question", "level", "said", "opening"),
    [
        ("How long do old cards for ten visits stay valid?", "low", OLD_CARDS, "Only a document that is not in force"),
        ("How much is an adult ticket?", "high", "7 EUR", "A source says this"),
    ],
)
def test_what_only_a_replaced_version_says_is_quoted_unsure_and_said_to_be_replaced(
    tmp_path, question, level, said, opening
):
    prices = "# Pool price list {0}\n\nValid from 1 January {0}.\n\n| Ticket | Price |\n|---|---|\n| Adult | {1} |\n"
    files = {"old.md": f"{prices.format(2025, '6 EUR')}\n{OLD_CARDS}\n", "new.md": prices.format(2026, "7 EUR")}
    answer: Any = offline(tmp_path, write_documents(tmp_path / "desk", files)).chain.invoke({"question": question})
    assert (answer["confidence"]["level"], said in answer["answer"]) == (level, True)
    assert answer["confidence"]["reason"].startswith(opening)


def test_a_range_that_holds_the_figure_is_not_enough_to_be_sure_of_another_subject():
    head = "[Hut > Cancelling]\n| You cancel a hut | We keep |\n|---|---|\n"
    table = f"{head}| 1-9 days before | all |\n| 10-40 days before | half |"
    known, other = (
        reply_to(f"{words} a hut 20 days before", table, scores=[0.8]).response_metadata[MATCH]
        for words in ("I cancel", "I sublet")
    )
    assert other < LACKING < known


def test_the_column_whose_range_holds_the_figure_is_said_first():
    prices = "| Mini | Fiat 500 | 42 | 36 |\n| Compact | VW Golf | 55 | 47 |"
    cars = f"[Rates]\n| Class | Car | 1-3 days | 4-7 days |\n|---|---|---|---|\n{prices}"
    terms = "[Terms]\nA booking can be cancelled up to 48 hours before pick-up for 15 EUR."
    answer = ask("golf for 5 days how much", terms, cars, scores=[0.3, 0.3])
    assert "Compact – 4-7 days: 47; Car: VW Golf" in answer


def test_a_list_is_whole_where_another_statement_names_some_of_it():
    lab = "[Lab > Abbreviations]\n| Short | Means |\n|---|---|\n| ABC | Board for blood, urine and saliva samples |"
    samples = "[Lab > ABC samples]\nSamples under ABC control:\n\n- Blood\n- Hair\n- Saliva\n- Urine"
    answer = ask("which samples are under abc control", lab, samples, scores=NEAR)
    assert all(f"- {sample}" in answer for sample in ("Blood", "Hair", "Saliva", "Urine"))


def test_an_answer_to_another_question_stands_below_that_question():
    entry = "[FAQ > Papers]\n### Is a packing list necessary?\n\nYes, we accept no shipment without a packing list."
    assert ask("Is a packing list really necessary?", entry, scores=NEAR).startswith("Yes, we accept")
    other = ask("Can we ship without a packing list?", entry, scores=NEAR)
    assert "Is a packing list necessary? Yes, we accept no shipment" in other


def test_the_question_above_two_statements_is_said_once():
    entry = (
        "[FAQ > Bikes]\n### Where are bikes kept?\n\nBikes stand in the yard. Bikes left for a month are given away."
    )
    answer = ask("do bikes rust", entry, scores=[0.6])
    assert answer.count("Where are bikes kept?") == 1
    assert "\n\nBikes left for a month" in answer


def test_a_superlative_names_a_row_of_the_table_that_has_the_other_words():
    boats = "[Boats > Prices]\n| Boat | An hour |\n|---|---|\n| Kayak | £9 |\n| Rowing boat | £14 |\n| Canoe | £11 |"
    beds = "[Beds > Prices]\n| Bed | Per night |\n|---|---|\n| Bunk | £5 |\n| Double | £30 |"
    assert ask("whats the cheapest boat", boats, beds, scores=[0.6, 0.3]).startswith("Kayak")
    assert ask("what does the rowing boat cost?", boats, scores=[0.6]).startswith("Rowing boat")
    assert is_not_sure(ask("whats the cheapest sandwich", boats, scores=[0.6]))


def test_how_many_are_paid_for_is_no_figure_that_the_answer_has_to_hold():
    entry = "[Zoo > Tickets]\n| Ticket | Price |\n|---|---|\n| Adult | £18 |\n| Senior | £12 |"
    assert ask("how much for 2 seniors", entry, scores=[0.6]).startswith("Senior – Price: £12")


@pytest.mark.parametrize(
    ("question", "statement", "said"),
    [
        ("May guests smoke on the terrace?", "Guests may smoke on the terrace.", "Yes. "),
        ("May guests smoke on the terrace?", "Guests may not smoke on the terrace.", "No. "),
        ("Can guests check in without a passport?", "A passport is required to check in all guests.", "No. "),
        ("May guests smoke on the terrace?", "Guests may smoke on the terrace if it is not raining.", ""),
        ("May guests smoke on the terrace?", "Nobody may smoke on the terrace.", "No. "),
        ("Is a permit required for a terrace?", "A permit is not required for a terrace.", "No. "),
    ],
)
def test_yes_or_no_is_said_where_question_and_statement_leave_no_doubt(question, statement, said):
    answer = ask(question, f"[House Rules > Guests]\n{statement}", scores=NEAR)
    assert answer.casefold().startswith(f"{said}{statement}".casefold())


def test_question_with_nothing_near_is_declined_and_not_unsure():
    reply = reply_to("Who won the world cup?", THAILAND, VIETNAM, scores=[0.05, 0.05])
    assert (reply.text, reply.response_metadata["unsure"]) == (DECLINE, False)


def test_unsure_reply_is_an_outcome_of_the_chain_with_its_citation_and_the_closest_passages():
    metadata = {"title": "Times", "section": "Incidents", "score": 0.7}
    words = "A reefer failure gets a first action within 15 minutes."
    chain = build_chain(
        retriever=RunnableLambda(lambda _: [Document(words, metadata=metadata)]), model=OfflineChatModel()
    )
    answer = chain.invoke({"question": "When is somebody there for a broken fridge?"})
    assert (answer["outcome"], answer["answer"]) == ("unsure", f"{UNSURE}\n\n{words} [Times > Incidents]")
    assert [one["quote"] for one in answer["citations"]] == [words]
    assert [one["marked"] for one in answer["closest"]] == [words]
    assert answer["confidence"]
    assert answer["confidence"]["level"] in {"low", "Low"}


TABLE = """[Surcharges]
| Region | Goods | Surcharge |
| --- | --- | --- |
| Norland | Chilled | 11% |
| Norland | Live animals | 26% |
| Sudmark | Frozen | 19% |"""


def near(first: Sequence[str], second: Sequence[str]) -> np.ndarray:
    pairs = [
        [1.0 if one == other else 0.6 * ({one, other} == {"frozen", "chilled"}) for other in second] for one in first
    ]
    return np.array(pairs, dtype=np.float32)


def test_a_near_word_names_no_row_where_another_row_says_the_word_itself():
    evidence = Evidence(read("What is the surcharge for frozen goods in Norland?"), entries(TABLE), near)
    assert evidence.contradicted == [True, True, True]


def test_one_row_is_no_sure_answer_to_a_question_that_compares_rows():
    towers = "[Towers]\n| Tower | Height |\n|---|---|\n| North Tower | 80 metres |\n| South Tower | 70 metres |"

    plain, compared = ("What is the height of the North Tower?", "What is the height of the tallest North Tower?")
    plain, compared, farther = (
        reply_to(question, towers, scores=[score]).response_metadata["match"]
        for question, score in ((plain, 0.9), (compared, 0.9), (compared, 0.8))
    )

    assert farther < compared <= LACKING < plain


def test_a_sentence_that_compares_nothing_is_no_sure_answer_to_a_question_for_the_best():
    text = "[Towers]\nThe North Tower is a tower of granite, with a view of the harbour."
    plain, best, bigger = (
        reply_to(f"Which tower has {view} view of the harbour?", text, scores=[0.9]).response_metadata["match"]
        for view in ("a", "the best", "a bigger")
    )

    assert max(best, bigger) <= LACKING < plain


def test_what_a_follow_up_names_anew_replaces_what_was_asked_before():
    table = "| Shift | Begins | Ends |\n|---|---|---|\n| Early | 06:00 | 14:30 |\n| Night | 22:00 | 06:30 |"
    messages = prompt("and the early one?", f"[Desk > Shifts]\n{table}", scores=[0.8])
    messages[-1].additional_kwargs[SEARCHED] = "when does the night shift begin early"
    answer = OfflineChatModel().invoke(messages).text
    assert "Early – Begins: 06:00" in answer
    assert "Night" not in answer


TOURS = (
    "| Tour | Adult |\n|---|---|\n| Walking tour, 2 hours | £9 |\n| Boat or evening tour, 2 hours | £14 |\n| Map | £2 |"
)


@pytest.mark.parametrize(
    ("typed", "query", "first"),
    [
        ("and by boat?", "how much is a walking tour boat", "Boat or evening tour, 2 hours – Adult: £14"),
        ("does he need a passport?", "does he need a passport walking tour adult", UNSURE),
    ],
)
def test_a_follow_up_keeps_the_words_of_its_own_row_and_is_not_sure_of_what_lacks_its_new_ones(typed, query, first):
    messages = prompt(typed, f"[City > Prices]\n{TOURS}", scores=[0.8])
    messages[-1].additional_kwargs[SEARCHED] = query
    assert OfflineChatModel().invoke(messages).text.startswith(first)


def test_a_follow_up_on_another_item_of_a_list_is_answered_by_that_item():
    courses = (
        "[Kitchen School]\n- Bread for beginners, weekend class with lunch: 45 pounds\n"
        "- Pasta evening: Tuesdays, 38 pounds\n- Knife skills: Thursdays, 29 pounds"
    )
    messages = prompt("and knife skills?", courses, scores=[0.7])
    messages[-1].additional_kwargs[SEARCHED] = (
        "what does the weekend bread class for beginners with lunch cost knife skills"
    )
    answer = OfflineChatModel(similarity=word_similarity()).invoke(messages).text
    assert answer.removeprefix(UNSURE).strip().startswith("Knife skills: Thursdays, 29 pounds")


def test_of_the_rows_that_hold_what_is_named_anew_only_shared_words_stay():
    fees = (
        "[Desk > Fees]\n| Request | Fee |\n|---|---|\n| First change before the cut-off | free |\n"
        "| Change after the cut-off, bill not issued | £60 |\n| Change after the bill was issued | £90 |"
    )
    messages = prompt("and before the cut-off", fees, scores=[0.8])
    messages[-1].additional_kwargs[SEARCHED] = "how much is it to change the bill after its issued cut-off"
    answer = OfflineChatModel().invoke(messages).text.removeprefix(f"{UNSURE}\n\n")
    assert answer.startswith("- First change before the cut-off – Fee: free")


def test_a_day_that_is_named_anew_leaves_what_was_asked_before():
    shows = (
        "[Desk > Shows]\n| Show | Beginning |\n|---|---|\n| Evening, Monday to Thursday | 19:30 |\n"
        "| Evening, Friday and Saturday | 20:00 |\n| Children, Saturday | 11:00 |"
    )
    messages = prompt("and saturdays", shows, scores=[0.8])
    messages[-1].additional_kwargs[SEARCHED] = "when do evening shows start on a saturdays"
    answer = OfflineChatModel(similarity=word_similarity()).invoke(messages).text.removeprefix(f"{UNSURE}\n\n")
    assert answer.startswith("Evening, Friday and Saturday – Beginning: 20:00")


def test_passages_that_agree_make_each_other_likelier():
    first, other = (f"[{title} > Taxes]\nThe VAT rate in Thailand is {{}} %." for title in ("Asia Desk", "Tax Guide"))
    both, against = (
        reply_to("What is the VAT rate in Thailand?", first.format(7), other.format(rate), scores=NEAR)
        for rate in (7, 8)
    )
    assert both.response_metadata[MATCH] > against.response_metadata[MATCH]
