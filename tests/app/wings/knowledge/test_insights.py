from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import httpx
import pytest
from pydantic import SecretStr

from app.http.server import create_app
from app.ledger import open_database
from app.ledger.answers import DAY_S, AnswerStore, LoggedAnswer, Quote
from app.settings import load_settings
from app.wings.knowledge.answer_log import open_answers
from app.wings.knowledge.insights import Insights, draft, insights
from app.wings.knowledge.testing import read_cases
from app.wiring import Service, open_service
from benchmarks.offline import offline
from tests.access import bearer, key_entry
from tests.corpora import write_documents
from tests.ledger.test_answers import NOW
from tests.ledger.test_answers import answer as logged_answer
from tests.served import served

FILES = {
    "01_regulatory/gst.md": "# GST Guide\n\n## Rate\n\nThe rate of GST on imports into Singapore is 9 %.\n",
    "01_regulatory/vat.md": "# VAT Guide\n\n## Rate\n\nThe rate of VAT on imports into Indonesia is 11 %.\n",
    "04_internal_synthetic/partners.md": "# Partner Rates\n\n## Johor\n\nThe partner agent in Johor charges RM 450.\n",
}
DOGS = ("Can you ship a dog to Japan?", "Is it possible to send dogs to Japan?", "Can I ship my dog to Japan by air?")
PARTNERS = "What does the partner agent in Johor charge?"
RATE = "What is the rate of GST on imports into Singapore?"


def answer(question: str = RATE, **values: Any) -> LoggedAnswer:
    return logged_answer(question=question, **{"audience": "internal"} | values)


def citing(doc_id: str, title: str, **values: Any) -> tuple[LoggedAnswer, Quote]:
    return answer(**values), Quote(doc_id, title, "", "The rate is 9 %.")


@pytest.fixture(scope="module")
def services(tmp_path_factory) -> Service:
    folder = tmp_path_factory.mktemp("insights")
    return offline(folder, write_documents(folder / "desk", FILES))


def found(services: Service, *answers: LoggedAnswer | tuple[LoggedAnswer, Quote]) -> Insights:
    """Return what is said about answers, of which the newest is the first."""
    with TemporaryDirectory() as folder:
        database = open_database(Path(folder) / "ledger.sqlite3", collection="kb")
        store = AnswerStore(database, days=90, max_mb=9, now=lambda: NOW)
        for one in reversed(answers):
            logged, *quotes = one if isinstance(one, tuple) else (one,)
            store.add(replace(logged, trace_id=str(uuid4())), quotes)
        return insights(store, services, since=0)


def test_questions_of_one_meaning_are_one_group_and_the_most_frequent_speaks_for_it(services):
    asked = [answer(question, outcome="no_results") for question in (*DOGS, DOGS[1].upper())]
    [dogs, fax] = found(services, *asked, answer("Do you have a fax?", outcome="unsure")).gaps

    assert (dogs.question, dogs.asked, dogs.why) == (DOGS[1], 4, "no passage")
    assert set(dogs.examples) <= {*DOGS, DOGS[1].upper()}
    assert (fax.question, fax.why) == ("Do you have a fax?", "passage found, not convincing")
    assert found(services, *asked, answer("Do you have a fax?", outcome="unsure")).gaps == [dogs, fax]


def test_what_was_asked_lately_comes_before_what_was_asked_as_often_long_ago(services):
    old = [answer(DOGS[0], outcome="no_results", at=NOW - 60 * DAY_S)] * 3
    gaps = found(services, answer("Do you have a fax?", outcome="no_results"), *old).gaps

    assert [gap.asked for gap in gaps] == [1, 3]


def test_what_a_stranger_asked_of_an_internal_document_was_withheld_from_this_audience(services):
    [gap] = found(services, answer(PARTNERS, outcome="no_results", audience="public")).gaps
    [staff] = found(services, answer(PARTNERS, outcome="unsure")).documented

    assert (gap.why, gap.documents[0].title) == ("withheld from this audience", "Partner Rates")
    assert staff.why == "documents say it, answer not sure"


def test_a_bad_score_counts_and_a_good_one_does_not(services):
    bad = answer(RATE, score=-1.0, comment="It is 10 % now")
    [gap] = found(services, bad, answer(PARTNERS, level="low", score=1.0)).gaps

    assert (gap.question, gap.why, gap.comments) == (RATE, "answered, rated badly", ["It is 10 % now"])
    assert [one.question for one in found(services, answer(PARTNERS, level="low")).documented] == [PARTNERS]


def test_what_the_documents_say_is_no_gap_but_a_list_of_its_own(services):
    asked = [answer(RATE, outcome="unsure")] * 3
    report = found(services, *asked, answer("Which fax number does the desk have?", outcome="unsure"))

    assert [(one.question, one.asked) for one in report.documented] == [(RATE, 3)]
    assert [one.question for one in report.gaps] == ["Which fax number does the desk have?"]


def test_small_talk_redirections_and_questions_that_were_not_kept_are_no_gap(services):
    others = [answer("Thanks!", outcome="small_talk"), answer("Book it", outcome="redirected")]
    report = found(services, *others, replace(answer(outcome="no_results"), question=None))

    assert (report.asked, report.gaps) == (1, [])


def test_documents_are_listed_by_use_and_by_what_was_wrong_and_those_never_cited_are_named(services):
    cited = [citing("01_regulatory_gst", "GST Guide")] * 2
    report = found(services, *cited, citing("01_regulatory_vat", "VAT Guide", score=-1.0))

    assert [(one.title, one.cited, one.wrong) for one in report.documents] == [("VAT Guide", 1, 1), ("GST Guide", 2, 0)]
    assert report.never_cited == ["Partner Rates"]


def test_the_share_that_was_answered_is_told_by_week(services):
    report = found(services, answer(), answer(PARTNERS, outcome="unsure"), answer(at=NOW - 7 * DAY_S))

    assert [(one.week, one.asked, one.answered) for one in report.weeks] == [("2027-W01", 1, 1), ("2027-W02", 2, 1)]
    assert (report.asked, report.answered) == (3, 2)


def test_a_draft_is_a_document_without_an_answer_and_tests_that_it_has_to_pass(services, tmp_path):
    [gap] = found(services, *(answer(one, outcome="no_results", audience="public") for one in DOGS)).gaps
    document, tests = draft(gap, tmp_path)

    assert document.read_text().startswith("---\ntitle: ")
    injected = draft(replace(gap, question="Dogs?\n---\n\n# Dogs are free\r\u2028x"), tmp_path / "injected")[0]
    assert injected.read_text().endswith("\n---\n\n## Dogs? --- # Dogs are free x\n")
    assert document.read_text().endswith(f"\n\n## {gap.question}\n")
    cases = [one.case for one in read_cases(tests)]
    assert {one.question for one in cases} == set(DOGS)
    assert {(one.audience, *one.must_cite) for one in cases} == {("public", document.name)}


def test_the_command_reports_and_drafts(waypoint, tmp_path, monkeypatch):
    monkeypatch.delenv("ANSWER_LOG_DAYS")
    (tmp_path / "gst.md").write_text(FILES["01_regulatory/gst.md"])
    waypoint("ingest", str(tmp_path / "gst.md"))
    store = open_answers(load_settings())
    for one in (answer(), answer(DOGS[0], outcome="no_results")):
        store.add(replace(one, at=store.now()))
    code, out, _ = waypoint("insights")

    assert (code, out.splitlines()[0]) == (0, "2 questions, 50 % answered")
    assert waypoint("insights", str(tmp_path))[:2] == (0, out)
    assert waypoint("insights", str(tmp_path / "other"))[0] == 2
    (tmp_path / "other").mkdir()
    code, _, err = waypoint("insights", str(tmp_path / "other"))
    assert (code, "the index holds nothing of" in err) == (2, True)
    assert f"  1. {DOGS[0]}\n     asked once on " in out
    assert waypoint("insights", "--draft", "1", "drafts")[0] == 0
    assert sorted(path.suffix for path in Path("drafts").iterdir()) == [".md", ".yaml"]
    assert "exists already" in waypoint("insights", "--draft", "1", "drafts")[2]
    assert waypoint("insights", "--draft", "2", "drafts")[0] == 2
    assert waypoint("insights", "--since", "soon")[0] == 2


def test_the_page_and_its_json_are_for_the_staff_that_looks_after_the_documents(services):
    keys = [key_entry("owner", "owner-key", "ask:internal+ingest"), key_entry("desk", "desk-key", "ask:internal")]
    keys.append(key_entry("upload", "upload-key", "ask+ingest"))
    settings = services.settings.replace(auth_mode="api_key", api_keys=SecretStr(",".join(keys)))
    open_answers(settings).add(replace(answer(DOGS[0], outcome="no_results"), at=open_answers(settings).now()))
    with served(create_app(open_service(settings))) as url:
        known = {
            key: httpx.get(f"{url}/insights", headers=bearer(key)) for key in ("owner-key", "desk-key", "upload-key")
        }
        stranger = httpx.get(f"{url}/insights")
        page = httpx.get(f"{url}/insights", headers=bearer("owner-key") | {"Accept": "text/html"})

    assert [one.status_code for one in (*known.values(), stranger)] == [200, 403, 403, 401]
    assert all(DOGS[0] not in one.text for one in (known["desk-key"], known["upload-key"], stranger))
    assert known["owner-key"].json()["gaps"][0]["question"] == DOGS[0]
    assert page.headers["content-type"].startswith("text/html")
    assert DOGS[0] in page.text


def test_no_stranger_of_a_service_that_is_open_to_all_reads_them(services):
    settings = services.settings.replace(auth_mode="public")
    with served(create_app(open_service(settings))) as url:
        assert httpx.get(f"{url}/insights").status_code == 403
