"""Answers that rest on words which changed or vanished are found, and those whose words only moved are not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document

from app.ledger.answers import AnswerStore, Quote
from app.ledger.passages import HeldDocument
from app.ledger.work import WaitingMessages
from app.settings import load_settings
from app.wings.knowledge.answer_log import open_answers
from app.wings.knowledge.recall import check, count_recalled, nearest_words, recalled, tokens_of
from app.wiring import open_service
from app.wiring.storage import ledger_of
from tests.corpora import write_documents
from tests.ledger.test_answers import answer
from tests.waiting import wait_until

QUESTION = "What is the rate of GST on imports into Singapore?"
RATE = "The rate of GST on imports into Singapore is 9 %."
GUIDE = f"---\ntitle: GST Guide\n---\n\n# GST Guide\n\n## Rate\n\n{RATE}\n\n## Payment\n\nDuties are paid online."


@pytest.fixture
def folder(tmp_path, waypoint, monkeypatch) -> Path:
    """A folder whose guide was asked for."""
    monkeypatch.delenv("ANSWER_LOG_DAYS")
    fees = "# Fees\n\n## Permits\n\nA permit costs S$ 2.88."
    folder = write_documents(tmp_path / "01_regulatory", {"gst.md": GUIDE, "fees.md": fees})
    assert waypoint("ingest", str(folder))[0] == 0
    assert waypoint("ask", QUESTION)[0] == 0
    wait_until(open_answers(load_settings()).count)
    return folder


@pytest.fixture
def ingested(folder, waypoint):
    def run() -> str:
        code, out, err = waypoint("ingest", str(folder))
        assert code == 0, err
        return out

    return run


def lines(waypoint) -> list[dict]:
    code, out, _ = waypoint("recall", "--json")
    assert code == 0
    return json.loads(out)["answers"]


TOLD = "1 answer of the last 90 days rests on words that changed or vanished. See them with: waypoint recall"


def test_a_changed_figure_is_told_and_listed_with_what_is_answered_now_until_it_comes_back(folder, ingested, waypoint):
    (folder / "gst.md").write_text(GUIDE.replace("9 %", "10 %"))
    assert TOLD in ingested()
    [answer] = lines(waypoint)
    assert (answer["question"], answer["audience"], answer["asker"]) == (QUESTION, "internal", None)
    [change] = answer["changes"]
    assert (change["title"], change["old"], change["new"]) == ("GST Guide", RATE, RATE.replace("9 %", "10 %"))
    code, out, _ = waypoint("recall", "--ask")
    assert code == 0
    assert f"  - {RATE}  [GST Guide]\n  + {RATE.replace('9 %', '10 %')}\n  asked again: another answer: " in out
    (folder / "gst.md").write_text(GUIDE)
    assert "changed or vanished" not in ingested()
    assert lines(waypoint) == []


def edit(folder: Path, files: dict[str, str | None]) -> None:
    """Write these files, or remove those without a text."""
    for name, text in files.items():
        (folder / name).unlink() if text is None else (folder / name).write_text(text)


MOVED = GUIDE.replace(RATE, "See below.") + f"\n\n## More\n\nIntroduction.\n\n{RATE}\n"
FEES = f"# Fees\n\n## Permits\n\nA permit costs S$ 2.88.\n\n## GST\n\n{RATE}"
REFORMATTED = GUIDE.replace(RATE, "The rate of **GST** on imports\ninto *Singapore* is 9%.")
STILL_THERE: dict[str, dict[str, str | None]] = {
    "other words changed": {"gst.md": GUIDE.replace("paid online", "paid online or by bank")},
    "the file was renamed": {"gst.md": None, "gst_2027.md": GUIDE},
    "they moved inside": {"gst.md": MOVED},
    "they moved to another file": {"gst.md": GUIDE.replace(RATE, "See Fees."), "fees.md": FEES},
    "only their form changed": {"gst.md": REFORMATTED},
}


def test_words_that_are_still_there_are_no_recall_and_are_followed_to_where_they_are(folder, ingested, waypoint):
    fees = (folder / "fees.md").read_text()
    for change, files in STILL_THERE.items():
        edit(folder, files)
        assert "changed or vanished" not in ingested(), change
        assert lines(waypoint) == [], change
        edit(folder, {"gst.md": GUIDE, "fees.md": fees} | ({"gst_2027.md": None} if "gst_2027.md" in files else {}))
        ingested()
    edit(folder, STILL_THERE["the file was renamed"])
    ingested()
    (folder / "gst_2027.md").write_text(GUIDE.replace("9 %", "10 %"))
    assert TOLD in ingested()


@pytest.mark.parametrize("text", [None, GUIDE.replace(RATE, "")])
def test_words_that_nothing_is_like_are_said_to_have_vanished(folder, ingested, waypoint, text):
    edit(folder, {"gst.md": text})

    assert TOLD in ingested()
    [answer] = lines(waypoint)
    assert [change["new"] for change in answer["changes"]] == [None]


def test_a_changed_figure_in_a_renamed_file_finds_its_new_words(folder, ingested, waypoint):
    edit(folder, {"gst.md": None, "gst_2027.md": GUIDE.replace("9 %", "10 %")})
    ingested()

    [answer] = lines(waypoint)
    assert [change["new"] for change in answer["changes"]] == [RATE.replace("9 %", "10 %")]


def test_an_index_that_was_changed_without_the_check_is_checked_by_the_command(folder, ingested, waypoint, monkeypatch):
    (folder / "gst.md").write_text(GUIDE.replace("9 %", "10 %"))
    monkeypatch.setenv("ANSWER_LOG_DAYS", "0")
    ingested()
    assert "needs ANSWER_LOG_DAYS" in waypoint("recall")[2]
    monkeypatch.delenv("ANSWER_LOG_DAYS")

    assert len(lines(waypoint)) == 1


def test_a_log_that_cannot_be_read_stops_no_ingestion(folder, ingested, tmp_path):
    with ledger_of(load_settings()).changing() as connection:
        connection.exec_driver_sql("ALTER TABLE statements RENAME TO elsewhere")
    (folder / "gst.md").write_text(GUIDE.replace("9 %", "10 %"))

    assert "updated" in ingested()


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("The rate is **9 %**.", "the rate is 9%", True),
        ("1.5 kg", "15 kg", False),
        ("1,000 S$", "1,000 US$", False),
        ("-5 °C", "5 °C", False),
        ("< 10 kg", "> 10 kg", False),
        ("- one item", "* one item", True),
        ("a “quoted” word", 'a "quoted" word', True),
    ],
)
def test_two_texts_have_the_same_words_where_only_form_differs(first, second, same):
    assert (tokens_of(first) == tokens_of(second)) is same


def test_the_nearest_words_are_the_sentence_most_like_the_old_one():
    text = "# Fees\n\nA permit costs S$ 3.10. A stamp costs S$ 1.\n\nOthers are free."
    assert nearest_words("A permit costs S$ 2.88.", [text]) == "A permit costs S$ 3.10."
    assert nearest_words("Ferrets sleep for eighteen hours.", [text]) is None


def test_an_event_waits_for_the_broker_with_the_words_of_then_and_now(folder, ingested, monkeypatch, tmp_path):
    monkeypatch.setenv("RABBITMQ_URL", "amqp://127.0.0.1:9/")
    (folder / "gst.md").write_text(GUIDE.replace("9 %", "10 %"))
    ingested()

    [message] = WaitingMessages(ledger_of(load_settings()), capacity=10).first(10)
    payload = json.loads(message.body)["payload"]
    assert message.routing_key == "answer.recalled"
    assert (payload["query"], payload["audience"]) == (QUESTION, "internal")
    [change] = payload["changes"]
    assert (change["oldWords"], change["newWords"]) == (RATE, RATE.replace("9 %", "10 %"))


def test_a_document_that_is_removed_over_http_recalls_its_answers(folder):
    services = open_service(load_settings())
    services.uploads.remove("gst")

    assert services.answer_log
    assert count_recalled(open_answers(services.settings)) == 1


# The check itself, over both databases, and an index that is not more than what the check asks for.


class Shelf:
    """Documents by their ids, each one chunk; its own `words` and `store`."""

    def __init__(self, **documents: str) -> None:
        self.held = documents
        self.words = self.store = self
        self.version = str(hash(tuple(documents.items())))

    def chunks_of(self, doc_id: str) -> list[str]:
        return [f"{doc_id}/{self.held[doc_id]}"] if doc_id in self.held else []

    def document(self, doc_id: str) -> list[Document]:
        return self.get_by_ids(self.chunks_of(doc_id))

    def documents(self) -> list[HeldDocument]:
        return [HeldDocument(doc_id, 1, *2 * self.chunks_of(doc_id)) for doc_id in self.held]

    def corrected(self, question: str, where: dict, is_word: Callable[[str], bool]) -> str:
        return question

    def named(self, question: str, where: dict) -> dict[str, float]:
        return {}

    def search(self, question: str, limit: int, where: dict) -> dict[str, float]:
        return {id_: 1.0 for doc_id in self.held for id_ in self.chunks_of(doc_id)}

    def get_by_ids(self, ids: list[str]) -> list[Document]:
        return [
            Document(text, id=f"{doc_id}/{text}", metadata={"chunk_index": 0, "start_char": 0, "end_char": len(text)})
            for doc_id, text in self.held.items()
            if f"{doc_id}/{text}" in ids
        ]


def kept(store: AnswerStore, *quotes: Quote) -> str:
    one = answer(at=store.now())
    store.add(one, list(quotes))
    return one.trace_id


OLD, FEE = Quote("gst", "GST Guide", "", "GST is 9 %."), Quote("fees", "Fees", "| what | fee |", "| permit | S$ 2.88 |")
TABLE = "| what | fee |\n|---|---|\n| permit | S$ 2.88 |"


def told(store: AnswerStore, shelf: Any) -> list[tuple[str, str | None]]:
    check(store, shelf)
    return [(change.old, change.new) for one in recalled(store, shelf) for change in one.changes]


def test_an_answer_is_recalled_once_with_all_its_words_that_changed(store):
    kept(store, OLD, FEE)
    trace_id = kept(store, OLD)
    assert told(store, Shelf(gst=OLD.quote, fees=TABLE)) == []

    changed: Any = Shelf(gst="GST is 10 %.", fees=TABLE.replace("2.88", "3.10"))
    newly = check(store, changed)
    assert (len(newly), count_recalled(store), check(store, changed)) == (2, 2, set())
    first, second = recalled(store, changed)
    assert first.answer.trace_id == trace_id
    assert {change.new for change in second.changes} == {"GST is 10 %.", "| permit | S$ 3.10 |"}
    assert recalled(store, changed, trace_id=trace_id) == [first]
    assert recalled(store, changed, limit=1) == [first]


def test_a_row_under_another_head_is_no_longer_the_same(store):
    kept(store, FEE)
    assert told(store, Shelf(fees=TABLE)) == []
    assert told(store, Shelf(fees=TABLE.replace("fee", "refund"))) == [(FEE.quote, FEE.quote)]


def test_an_answer_of_the_index_before_that_is_logged_late_is_recalled(store):
    kept(store, OLD)
    changed: Any = Shelf(gst="GST is 10 %.")
    check(store, changed)
    kept(store, FEE, OLD)

    assert len(told(store, changed)) == 3
    assert told(store, Shelf(gst=OLD.quote, fees=TABLE)) == []


def test_strangers_are_told_new_words_of_public_documents_only(store):
    trace_id = kept(store, OLD)
    changed: Any = Shelf(gst="GST is 10 %.")
    changed.get_by_ids = lambda ids: [
        Document(one.page_content, id=one.id, metadata=one.metadata | {"audience": "internal"})
        for one in Shelf.get_by_ids(changed, ids)
    ]
    check(store, changed)

    [one] = recalled(store, changed, trace_id=trace_id, audience="public")
    assert [change.new for change in one.changes] == [None]
