from dataclasses import asdict
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from app.http.server import create_app
from app.wings.knowledge.answer_log import open_answers
from app.wings.knowledge.why import why
from app.wiring import Service, open_service
from benchmarks.offline import offline
from tests.access import bearer, key_entry
from tests.corpora import write_documents
from tests.served import served

RATE = "What is the rate of GST on imports into Singapore?"
GUIDE = "# GST Guide\n\n## Rate\n\nThe rate of GST on imports into Singapore is 9 %.\n"
VAT = "---\njurisdiction: ID\n---\n\n# VAT Guide\n\nThe rate of VAT on imports into Indonesia is 11 %.\n"
DOCUMENTS = {
    "01_regulatory/gst.md": GUIDE,
    "04_internal/partners.md": "# Partner Rates\n\n## Johor\n\nThe partner agent in Johor charges RM 450 a truck.\n",
    "01_regulatory/gst_history.md": "# GST History\n\n## Rates\n\nThe rate of GST in Singapore was 8 % in 2023.\n",
    "01_regulatory/vat.md": VAT,
}


@pytest.fixture(scope="module")
def services(tmp_path_factory) -> Service:
    folder = tmp_path_factory.mktemp("why")
    return offline(folder, write_documents(folder / "desk", DOCUMENTS))


def changed(services: Service, *, serving: bool = False, **settings: Any) -> Service:
    return open_service(services.settings.replace(**settings), serving=serving)


@pytest.mark.parametrize("expected", ["gst.md", "01_regulatory_gst", "gst guide", "01_regulatory/gst.md"])
def test_a_document_that_is_cited_is_said_to_be(services, expected):
    assert why(RATE, expected, services).place == "cited"


def test_an_unknown_document_is_not_read_and_the_nearest_is_named(services):
    reason = why(RATE, "01_regulatory_gstt", services)

    assert (reason.place, "did you mean 01_regulatory_gst (GST Guide)?" in reason.change) == ("not read", True)
    assert why(RATE, "zzz", services).change.startswith("`waypoint ingest` its folder")


def test_an_internal_document_is_not_shown_to_strangers(services):
    question = "What does the partner agent in Johor charge?"

    assert why(question, "partners.md", services).place == "cited"
    assert why(question, "partners.md", services, audience="public").place == "audience"


def test_a_document_of_another_jurisdiction_than_was_asked_for_is_named_with_its_own(services):
    reason = why(RATE, "vat.md", services, jurisdiction="SG")

    assert reason.place == "jurisdiction"
    assert reason.why == "VAT Guide states the jurisdiction 'ID', and only documents of 'SG' are searched"
    assert why(RATE, "partners.md", services, jurisdiction="SG").why.startswith("Partner Rates states no jurisdiction")
    assert why("What is the rate of VAT in Indonesia?", "vat.md", services, jurisdiction="ID").place == "cited"


def test_a_document_behind_others_is_outranked_and_the_change_brings_it_back(services):
    reason = why(RATE, "vat.md", services, top_k=1)
    wanted = int(reason.change.partition("RETRIEVAL_TOP_K=")[2].partition(" ")[0])

    assert (reason.place, "behind GST " in reason.why) == ("outranked", True)
    assert why(RATE, "vat.md", services, top_k=wanted - 1).place == "outranked"
    assert why(RATE, "vat.md", services, top_k=wanted).place == "not cited"


def test_a_document_below_the_threshold_is_named_with_the_threshold_that_keeps_it(services):
    question = RATE.replace("rate", "present rate")  # A passage with all words of a question needs no likeness.
    reason = why(question, "gst.md", changed(services, relevance_threshold=0.99))
    wanted = float(reason.change.partition("RELEVANCE_THRESHOLD=")[2].partition(",")[0])

    assert reason.place == "threshold"
    assert why(question, "gst.md", changed(services, relevance_threshold=wanted)).place == "cited"


@pytest.mark.parametrize(
    ("question", "expected", "settings", "place", "said"),
    [
        ("Thanks!", "gst.md", {}, "before the search", "nothing was searched for"),
        (RATE, "vat.md", {"max_context_tokens": 40}, "cut", "MAX_CONTEXT_TOKENS="),
        (RATE, "gst.md", {"min_citations": 20}, "withheld", "ungrounded"),
    ],
)
def test_the_place_where_a_document_was_lost_is_named(services, question, expected, settings, place, said):
    reason = why(question, expected, changed(services, **settings))

    assert (reason.place, said in f"{reason.why} {reason.change}") == (place, True)


def test_a_table_that_says_it_is_not_to_be_rewritten(services, tmp_path):
    rows = "| From | To | Days |\n|---|---|---|\n| Singapore | Jakarta | 4 |\n| Singapore | Surabaya | 6 |\n"
    (tmp_path / "transit.md").write_text(f"# Transit times\n\n{rows}")
    strict = open_service(services.settings.replace(chroma_path=tmp_path / "store", min_citations=20), serving=False)
    strict.index.ingest([tmp_path])
    reason = why("How many days is the transit from Singapore to Jakarta?", "transit.md", strict)
    other = why(
        "Which permits does a dog need?",
        "transit.md",
        open_service(strict.settings.replace(relevance_threshold=0), serving=False),
    )

    assert (reason.place, reason.change) == (
        "withheld",
        "Transit times says it and need not change: ask in its words, or with another language model",
    )
    assert (other.place, other.change.startswith("write the answer into Transit times")) == ("withheld", True)


def test_the_words_that_a_document_lacks_are_named(services, monkeypatch):
    monkeypatch.setattr("app.wings.knowledge.why.FAR", 1)  # As in a corpus of more than a hundred passages.
    reason = why(RATE, "vat.md", services, top_k=1)

    assert (reason.place, "it lacks the words GST, Singapore" in reason.why) == ("no passage", True), reason


def test_the_command_says_place_and_change(waypoint, tmp_path):
    (tmp_path / "gst.md").write_text(GUIDE)
    waypoint("ingest", str(tmp_path))

    assert waypoint("why", RATE, "--expect", "gst.md")[:2] == (
        0,
        f"cited: the answer cites GST Guide: {GUIDE.splitlines()[4]}\n",
    )
    code, out, _ = waypoint("why", RATE, "--expect", "tax.md")
    assert (code, out.splitlines()[0]) == (0, "not read: no document of the index has the id, title or file 'tax.md'")


def test_staff_asks_over_http_and_others_may_not(services):
    keys = [key_entry("staff", "staff-key", "ask:internal"), key_entry("desk", "desk-key", "ask+ingest")]
    guarded = changed(
        services, serving=True, answer_log_days=90, auth_mode="api_key", api_keys=SecretStr(",".join(keys))
    )
    body = {"query": RATE, "document": "vat.md", "topK": 1}
    with served(create_app(guarded)) as url:
        found = httpx.post(f"{url}/api/why", json=body, headers=bearer("staff-key"))
        refused = [httpx.post(f"{url}/api/why", json=body, headers=one).status_code for one in ({}, bearer("desk-key"))]
        empty = httpx.post(f"{url}/api/why", json=body | {"query": " "}, headers=bearer("staff-key"))

    assert found.json() == asdict(why(RATE, "vat.md", services, top_k=1))
    assert refused == [401, 403]
    assert open_answers(guarded.settings).count() == 0
    assert (empty.status_code, empty.json()["message"]) == (400, "Query cannot be empty")
