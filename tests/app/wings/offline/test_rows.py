"""Which row of a table a question names, where words are compared by meaning."""

from collections.abc import Sequence

import numpy as np

from app.wings.offline import OfflineChatModel
from app.wings.offline.evidence import LACKING, Evidence
from app.wings.offline.passages import entries
from app.wings.offline.question import read
from chains.metadata import SEARCHED
from tests.app.wings.offline.asking_offline import prompt, reply_to

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

    plain, compared = (
        reply_to(question, towers, scores=[0.9]).response_metadata["match"]
        for question in ("What is the height of the North Tower?", "What is the height of the tallest North Tower?")
    )

    assert compared <= LACKING < plain


def test_a_sentence_that_compares_nothing_is_no_sure_answer_to_a_question_for_the_best():
    text = "[Towers]\nThe North Tower is a tower of granite, with a view of the harbour."
    plain, compared = (
        reply_to(question, text, scores=[0.9]).response_metadata["match"]
        for question in ("Which tower has a view of the harbour?", "Which tower has the best view of the harbour?")
    )

    assert compared <= LACKING < plain


def test_what_speaks_of_two_rows_is_no_answer_to_a_follow_up_about_one():
    hire = (
        "[Hire]\n| Item | Per visit |\n|---|---|\n| Shoes | €4 |\n| Harness | €3 |\n\n"
        "A set of shoes and harness costs €6 for each visit."
    )
    messages = prompt("and a harness?", hire, scores=[0.8])
    messages[-1].additional_kwargs[SEARCHED] = "how much are shoes to hire harness"
    assert "Harness – Per visit: €3" in OfflineChatModel().invoke(messages).text


def test_what_a_follow_up_names_anew_replaces_what_was_asked_before():
    table = "| Shift | Begins | Ends |\n|---|---|---|\n| Early | 06:00 | 14:30 |\n| Night | 22:00 | 06:30 |"
    messages = prompt("and the early one?", f"[Desk > Shifts]\n{table}", scores=[0.8])
    messages[-1].additional_kwargs[SEARCHED] = "when does the night shift begin early"
    answer = OfflineChatModel().invoke(messages).text
    assert "Early – Begins: 06:00" in answer
    assert "Night" not in answer
