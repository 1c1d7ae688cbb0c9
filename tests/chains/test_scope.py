import os
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

import chains
from app.adapters.embeddings.onnx import OnnxEmbeddings
from app.web import words
from benchmarks.scope import leave_one_out
from chains.errors import ConfigurationError
from chains.scope import Intent, ScopeFile, ScopeGate, load_scope
from chains.state import Answer
from tests.chains.gst import gst_chain, lasting, writing
from tests.fakes import WordEmbeddings
from tests.streams import asked, every_way, merged

FILE = Path(chains.__file__).parents[1] / "knowledge_base" / "scope.yaml"
REDIRECT = "I cannot see live shipments. Ask the operations team."
SMALL = ScopeFile(
    intents={
        "live_tracking": Intent(redirect=REDIRECT, examples=["Where is my container right now?", "Where is my box?"])
    },
    in_scope=["What is the rate of GST?", "How do I track a container?"],
    threshold=0.2,
)
DECLINED = {"question": "Where is my container?"}

# Neither in the scope file nor used to choose its threshold, in the tone of the desk.
ANSWERABLE = [
    "The customer wants to move his booking to a later vessel, what does that cost?",
    "What do I tell a customer whose box missed the CY closing?",
    "How do I cancel an FCL booking and until when is it free?",
    "If customer 4410 wants to amend booking 77120 after SI cut-off, what do we charge?",
    "Customer with booking WP-1201 asks until when he can cancel free of charge",
    *("What is the SLA for answering a rate enquiry?", "How quickly does pricing have to send an air freight quote?"),
    *("What are the current GST and duty relief limits?", "How long does a shipment from Singapore to Jakarta take?"),
    *("How does a customer track his cargo with Maersk?", "When do we block a customer's credit?"),
    *("How many days of credit do new customers get?", "How do I claim for missing cartons?"),
    *("Do you apply for import permits for the consignee?", "Can you ship batteries by air?"),
    *("How do I become an approved third party trader?", "Which supplier documents prove origin?"),
    *("My manager asks what CPT means", "Explain how RCEP cumulation works", "Which carriers go direct to Haiphong?"),
]
NOT_ANSWERABLE = [
    ("The client rang twice, where exactly is his shipment today?", "live_tracking"),
    ("HAWB 77120934 - delivered yet?", "live_tracking"),
    ("How much is it per kilo by air to Narita right now?", "live_rates"),
    ("I need a quotation for 6 pallets of furniture to Auckland", "live_rates"),
    ("Please place a booking for one reefer to Dubai", "bookings_and_changes"),
    ("Kindly cancel WP-30991", "bookings_and_changes"),
    ("How many containers did we ship for Orient Toys in 2025?", "account_data"),
    ("I forgot my portal login", "account_data"),
    ("Recommend a hotel in Bangkok", "off_topic"),
    ("What course should I take to become a supply chain manager?", "off_topic"),
]


RATE = Document("The rate of GST is 9 %.", metadata={"title": "GST Guide", "doc_id": "gst", "score": 0.8})


def declining() -> Any:
    searched: Any = RunnableLambda(lambda _: pytest.fail("it was searched for"))
    return gst_chain(retriever=searched, model=writing(times=0), scope=ScopeGate(SMALL, WordEmbeddings()))


@pytest.fixture(scope="module")
def gate() -> ScopeGate:
    return ScopeGate(load_scope(FILE), OnnxEmbeddings())


def test_a_declined_question_gets_the_redirect_without_retriever_and_model():
    answer = declining().invoke(DECLINED)

    assert set(answer) == Answer.__required_keys__
    assert (answer["outcome"], answer["answer"]) == ("redirected", REDIRECT)
    assert (answer["documents"], answer["citations"], answer["sources"], answer["related_docs"]) == ([], [], [], [])
    assert answer["confidence"] is None
    assert answer["metadata"]["model"] is None
    assert tuple(answer["metadata"]["timings_ms"]) == chains.STAGES


@every_way
async def test_a_declined_question_is_answered_the_same_every_way(way):
    assert lasting(await asked(declining(), way, DECLINED)) == lasting(declining().invoke(DECLINED))


async def test_the_gate_is_a_step_named_scope_before_retrieval():
    events = [event async for event in declining().astream_events(DECLINED, version="v2")]
    started = [event["name"] for event in events if event["event"] == "on_chain_start"]

    assert started.index("scope") < started.index("retrieval")


@pytest.mark.parametrize("way", ["invoke", "stream"])
def test_a_question_in_scope_passes_and_its_words_still_stream(way):
    gate = ScopeGate(SMALL, WordEmbeddings())
    chain = gst_chain("It is 9 % [GST Guide]. The rate of GST is 9 % [1].", retriever=lambda _: [RATE], scope=gate)
    question = {"question": "What is the rate of GST?"}
    parts = [chain.invoke(question)] if way == "invoke" else list(chain.stream(question))

    assert merged(parts)["outcome"] == "answered"
    assert sum("answer" in part for part in parts) > (1 if way == "stream" else 0)


def test_the_examples_are_embedded_once_and_not_before_the_first_question():
    embeddings = WordEmbeddings()
    gate = ScopeGate(SMALL, embeddings)
    assert embeddings.embedded == 0
    for _ in range(3):
        gate.invoke({"question": "Where is my box?"})

    assert embeddings.embedded == 4


def test_leaving_one_example_out_declines_few_in_scope_and_recognises_half_of_the_others_and_their_team(gate):
    threshold, rows = load_scope(FILE).threshold, leave_one_out(gate)
    in_scope = [row for row in rows if row.intent is None]
    wrong = [row.text for row in in_scope if row.score > threshold and row.predicted]
    assert len(in_scope) > 200
    assert len(wrong) / len(in_scope) <= 1 / 40, wrong

    to_decline = [row for row in rows if row.intent]
    caught = [row for row in to_decline if row.score > threshold and row.predicted]
    assert len(caught) / len(to_decline) >= 0.5
    assert sum(row.predicted == row.intent for row in caught) / len(caught) >= 0.8


def test_every_example_of_the_file_is_classified_as_written(gate):
    scope = load_scope(FILE)
    declined = [gate.invoke({"question": text}) for text in scope.in_scope]
    missed = [
        text
        for name, intent in scope.intents.items()
        for text in intent.examples
        if (found := gate.invoke({"question": text})) is None or found["intent"] != name
    ]

    assert [found for found in declined if found] == []
    assert len(missed) <= 0.05 * sum(len(intent.examples) for intent in scope.intents.values()), missed


def test_a_wish_for_live_data_an_action_or_another_topic_is_declined_and_nothing_else(gate):
    assert [question for question in ANSWERABLE if gate.invoke({"question": question})] == []
    found = [gate.invoke({"question": question}) for question, _ in NOT_ANSWERABLE]
    assert None not in found
    right = [one["intent"] == intent for one, (_, intent) in zip(found, NOT_ANSWERABLE, strict=True)]
    assert sum(right) / len(right) >= 0.9


def test_every_redirect_of_the_file_says_where_to_go_instead_in_every_language_of_the_page():
    for name, intent in load_scope(FILE).intents.items():
        assert any(word in intent.redirect for word in ("team", "Ask me about")), name
        assert set(intent.translations) == set(words.languages()) - {words.DEFAULT}, name


def test_a_redirect_comes_in_the_askers_language_where_it_is_translated(gate):
    where = {"question": "Where is container MSKU1234567 right now?"}
    told = [(gate.invoke(where | {"language": code}) or {}).get("text", "") for code in ("de-AT", "fr", "")]

    assert told[0].startswith("Ich kann keine laufenden Sendungen sehen.")
    assert told[1] == told[2] == next(iter(load_scope(FILE).intents.values())).redirect


VALID = "intents:\n  a:\n    redirect: Ask the team.\n    examples:\n      - Where is it?\nin_scope:\n  - How?\n"


def test_a_scope_file_is_read(tmp_path):
    (tmp_path / "scope.yaml").write_text(VALID + "threshold: 0.5\n")

    intent = Intent(redirect="Ask the team.", examples=["Where is it?"])
    assert load_scope(tmp_path / "scope.yaml") == ScopeFile(intents={"a": intent}, in_scope=["How?"], threshold=0.5)


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("", 1, "empty"),
        ("- a\n", 1, "mapping"),
        ("intents: {}\nin_scope: [a]\n", 1, "name at least one"),
        (VALID + "treshold: 1\n", 8, "'treshold' is not known here"),
        (VALID + "threshold: high\n", 8, "must be a number"),
        (VALID + "threshold: nan\n", 8, "must be a number"),
        (VALID + "in_scope:\n  - Why?\n", 8, "'in_scope' for the second time"),
        ("? [a]\n: b\n", 1, "in the place of a name"),
        (VALID.replace("    redirect: Ask the team.\n", ""), 3, "redirect is missing"),
        (VALID.replace("- Where is it?", "- Note: where?"), 5, "quote it if it contains a colon"),
        (VALID.replace("\n      - Where is it?", " one"), 4, "list of sentences"),
        (VALID.replace("  - How?", "  - "), 7, "must be text"),
        (VALID.replace("redirect: Ask", "redirect: [Ask"), 4, "not valid YAML"),
        (VALID.replace("    examples", "    translations: [a]\n    examples"), 4, "translations must be a mapping"),
        ("a: \x01", 1, "not UTF-8"),
        ("a: \x01", 1, "a control character"),
        ("a: " + "[" * 5000, 1, "nested too deeply"),
    ],
)
def test_a_mistake_in_a_scope_file_names_its_line(tmp_path, text, line, told):
    (tmp_path / "scope.yaml").write_text(text)

    with pytest.raises(ConfigurationError, match=f"line {line}:") as caught:
        load_scope(tmp_path / "scope.yaml")
    assert told in str(caught.value)
    assert "SCOPE" in str(caught.value) or "scope.yaml" in str(caught.value)


@pytest.mark.parametrize("place", ["/dev/zero", "pipe"])
def test_a_scope_file_that_is_no_regular_file_is_refused_without_waiting(tmp_path, place):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "scope.yaml").symlink_to(tmp_path / place)

    with pytest.raises(ConfigurationError, match="it is not a regular file"):
        load_scope(tmp_path / "scope.yaml")
