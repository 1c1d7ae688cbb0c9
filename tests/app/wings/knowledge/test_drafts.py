from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from app.ledger.answers import LoggedAnswer, pack
from app.settings import load_settings
from app.wings.knowledge.answer_log import open_answers
from app.wings.knowledge.certificate import certificate
from app.wings.knowledge.insights import proposed
from app.wings.knowledge.testing import read_cases
from app.wiring import open_service

RATE = "What is the rate of GST on imports into Singapore?"
GUIDE = "# GST Guide\n\n## Rate\n\nThe rate of GST on imports into Singapore is 9 %.\n"


def logged(**values: Any) -> LoggedAnswer:
    usual = LoggedAnswer(str(uuid4()), 0, RATE, None, None, "public", "answered", "high", 0.9, None, None, None)
    return replace(usual, score=1.0, **values)


def test_a_question_that_was_answered_well_becomes_a_test_that_its_answer_passes(waypoint, tmp_path):
    (tmp_path / "desk").mkdir()
    (tmp_path / "desk" / "gst.md").write_text(GUIDE)
    waypoint("ingest", str(tmp_path / "desk"))
    services = open_service(load_settings(), serving=False)
    proof = certificate(services.chain.invoke({"question": RATE}), services.index)
    store = open_answers(services.settings)
    for score in (1.0, 1.0, -1.0):
        store.add(replace(logged(packed=pack(proof)), at=store.now(), score=score))

    assert waypoint("test", "--propose", "desk/proposed.tests.yaml")[0] == 0
    [case] = [one.case for one in read_cases(Path("desk"))]
    assert (case.question, case.must_say, case.must_cite) == (RATE, ["9 %"], ["gst.md"])
    assert waypoint("test", "desk")[0] == 0
    assert "exists already" in waypoint("test", "--propose", "desk/proposed.tests.yaml")[2]


def test_nothing_is_proposed_from_answers_that_nobody_rated_well_or_that_cite_nothing(waypoint):
    assert proposed([replace(logged(), score=None), logged(outcome="unsure"), logged()]) == ""
    code, _, err = waypoint("test", "--propose", "proposed.tests.yaml")

    assert (code, "was rated well" in err) == (2, True)
    assert not Path("proposed.tests.yaml").exists()
