"""How a question and the words around it are read: what names something, what only asks, and typing errors."""

import pytest

from app.wings.offline.matching import Matcher, words_of
from app.wings.offline.question import in_words_of, read
from app.wiring.models import word_similarity
from chains.text.asking import fits, kinds


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("how big is the deposit", {"deposit"}),
        ("how long is the wait for a building permit", {"building", "permit"}),
        ("which permits for cosmetics", {"cosmetics"}),
        ("what happens if someone pays late", {"pays"}),
        ("hey whos doing the bell btw", {"bell"}),
        ("price for rowing before 9", {"price", "rowing", "9"}),
        ("are cats allowed on the stairs", {"cats", "stairs"}),
    ],
)
def test_words_that_only_ask_name_nothing_and_a_noun_does(question, named):
    assert {term.word for term in read(question).terms if term.carries} == named


@pytest.mark.parametrize(("short", "written"), [("sat", "Saturday"), ("nov", "November"), ("wks", "weeks")])
def test_a_short_form_is_the_word_that_it_stands_for(short, written):
    assert Matcher(read(f"{short} van"), [f"{written} only"], None).rows([f"{written} only"]).tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize(
    ("text", "between"),
    [
        ("Open Mon-Fri.", "wednesday"),
        ("Fri to Sun", "saturday"),
        ("From 1 October to 30 April", "january"),
        ("At weekends", "sunday"),
        ("November to March", "winter"),
        ("Shut on 25 and 26 December", "christmas"),
        ("No classes from 21 Dec to 4 Jan.", "christmas"),
        ("Sauna May-September", "summer"),
    ],
)
def test_days_and_months_name_what_lies_between(text, between):
    assert between in words_of(text).keys.values()


def test_who_does_something_is_met_by_the_noun_for_it():
    assert Matcher(read("who trains the juniors"), ["Trainer: Ada"], None).rows(["Trainer: Ada"])[0, 0] == 1.0
    assert Matcher(read("when does the printing start"), ["Printer"], None).rows(["Printer"])[0, 0] == 0.0


def test_a_place_may_have_no_name():
    assert fits("Old skates go into the crate beside the bar.", {"where"}, "where do old skates go") == 1.0
    assert fits("Skates cost £4.", {"where"}, "where do old skates go") == -1.0


def test_a_day_or_a_month_is_nobodys_name():
    assert fits("From May to August also Sunday.", {"who"}, "who has the desk") == -1.0
    assert fits("On Sunday it is Jo.", {"who"}, "who has the desk") == 1.0


@pytest.mark.parametrize(
    ("question", "text", "fit"),
    [
        ("how long is the boat trip", "The boat trip is on 4 May, with boats at 9:00 and 15:00.", -1),
        ("how long is the boat trip", "The boat trip is from 9:00 to 15:00.", 1),
        ("how long is the bridge closed", "The bridge is closed until 4 May.", 1),
        ("how much is a berth", "The harbour has 40 berths.", -1),
        ("how much is a berth", "A berth is 40 euros.", 1),
        ("which value is insured", "The insured value is the invoice price.", 0),
        ("what does the fee include", "The fee includes a towel.", 0),
    ],
)
def test_times_are_no_length_and_a_count_is_no_price(question, text, fit):
    assert fits(text, kinds(question), question) == fit


def test_a_price_and_a_number_are_no_year():
    assert kinds("how much are the badges") == {"money"}
    assert kinds("how much is the heaviest load") == {"number"}
    assert fits("Since May 2019 the office sends badges.", {"number"}, "what number of badges") == -1.0
    assert "list" in kinds("what do i have to bring")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("when does the choir meet", True),
        ("do you know when the choir meets", True),
        ("rehearsal is when?", True),
        ("can i park there when i have no ticket", False),
        ("what happens when it rains", False),
    ],
)
def test_when_asks_for_a_time_but_not_where_it_tells_a_case(question, expected):
    assert ("date" in kinds(question)) == expected


def test_behind_a_whole_question_the_words_of_those_before_ask_for_nothing():
    assert read("Who signs it? tax form price", said="Who signs it?").wants == {"who"}


def test_a_word_that_the_documents_write_with_a_hyphen_is_no_typing_error():
    assert in_words_of(["The bike, the e-bike"], "price for an ebike", word_similarity()) == "price for an ebike"


@pytest.mark.parametrize(
    ("question", "names", "sides"),
    [
        ("How long does Cathay Pacific take to Perth?", [["cathay", "pacific"], ["perth"]], []),
        ("Which label do Thailand, Laos and South Korea want?", [["thailand"], ["laos"], ["south", "korea"]], 3),
        ("Is GST due on 2 boxes in may?", [["gst"], ["2"]], []),
    ],
)
def test_names_and_figures_of_a_question(question, names, sides):
    found = read(question)
    words = [[found.terms[row].word for row in name] for name in found.names]
    assert words == names
    assert len(found.sides) == (sides or 0)


TEXTS = [
    "Documents for export to Indonesia: a cosmetics notification is valid for three years in Vietnam.",
    "Pay by card. Maersk sails to Surabaya with general cargo. The insurance premium is due at booking.",
]


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("wat documants need for expot to indonesa", "wat documents need for export to indonesia"),
        ("is a cosmetics notificaton vald in Vietnm?", "is a cosmetics notification valid in vietnam?"),
        ("premum for genral cargo", "premium for general cargo"),
        ("suraba with premia", "surabaya with premia"),
        ("generalcargo rates", "general cargo rates"),
        ("May I send cars to Laos with Maersk via Surabaya?", "May I send cars to Laos with Maersk via Surabaya?"),
        ("What does a LARTAS permit cost?", "What does a LARTAS permit cost?"),
        ("", ""),
    ],
)
def test_mistyped_words_are_written_as_the_texts_write_them_and_no_others(question, right):
    assert in_words_of(TEXTS, question, word_similarity()) == right


def test_words_of_short_messages_ask_for_nothing():
    question = read("whats the price 4 adults pls, when do u close thx")
    assert [term.word for term in question.terms] == ["price", "4", "adults", "close"]
    assert "where" in read("wheres the lift").wants


@pytest.mark.parametrize(
    "question", ["who issues the B/L", "open on good friday", "a 5 min walk", "since VAT is 10 %, what is duty"]
)
def test_a_whole_question_takes_nothing_over(question):
    assert read(question, said=question).fresh == []
