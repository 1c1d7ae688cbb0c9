import pytest

from chains.around import side_steps
from chains.around.side_steps import counts, keep_faults, side_step
from chains.citations import cite
from chains.errors import WaypointError
from tests.chains.gst import QUESTION, gst_chain


@pytest.fixture(autouse=True)
def _none_kept(monkeypatch):
    monkeypatch.setattr(side_steps, "_keepers", [])


def fail(*_: object) -> None:
    raise IndexError


def test_a_fault_is_logged_counted_and_kept_with_its_place_and_without_words_of_documents(capsys, caplog):
    kept: list[tuple[str, str]] = []
    keep_faults(lambda step, reason: kept.append((step, reason)))
    before, words, locked = counts["recall"], "the salary of Ms Tan", "the log is locked"

    with side_step("recall"):
        raise KeyError(words)
    with side_step("recall"):
        raise WaypointError(locked)

    assert counts["recall"] == before + 2
    assert [reason.partition(":")[0] for _, reason in kept] == ["KeyError at test_side_steps.py", locked]
    logged = capsys.readouterr().out + caplog.text
    assert ("side_step_failed" in logged, "salary" in logged) == (True, False)


@pytest.mark.parametrize(
    ("step", "question", "outcome"),
    [("find_disagreements", "Rate?", "answered"), ("closest_of", "Which pizza is the best in Rome?", "ungrounded")],
)
def test_an_answer_stands_though_what_looks_beside_it_fails(monkeypatch, step, question, outcome):
    monkeypatch.setattr(cite, step, fail)
    answer = "Elephants are grey." if outcome == "ungrounded" else "It is 9% [GST Guide > Rate]."

    found = gst_chain(answer).invoke(QUESTION | {"question": question})

    assert (found["outcome"], found["closest"]) == (outcome, [])
