import os
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.ledger.answers import LoggedAnswer, pack
from app.settings import load_settings
from app.wings.knowledge.answer_log import open_answers
from app.wings.knowledge.certificate import certificate
from app.wings.knowledge.insights import proposed
from app.wings.knowledge.testing import Case, FileCase, Result, differences, junit_xml, read_cases
from app.wiring import open_service
from tests.corpora import write_documents
from tests.ledger.test_answers import answer as logged_answer

DOCUMENT = "# GST Guide\n\n## Rate\n\nThe rate of GST on imports into Singapore is 9 %.\n"
CASES = """
- question: What is the rate of GST on imports into Singapore?
  must_say: [9 %, Singapore]
  must_cite: gst.md
  must_not_say: 8 %
- question: Which pizza is the best in Rome?
  must_decline: true
"""


@pytest.fixture
def documents(tmp_path, waypoint) -> Path:
    folder = write_documents(tmp_path / "desk", {"gst.md": DOCUMENT, "gst.tests.yaml": CASES})
    waypoint("ingest", str(folder))
    return folder


def results(path: Path) -> ElementTree.Element:
    return ElementTree.parse(path).getroot()  # noqa: S314 - ours.


def test_documents_that_say_what_they_must_pass_and_an_edit_is_shown_with_the_old_words(waypoint, documents, tmp_path):
    def git(*words: str) -> None:
        named = ["-c", "user.name=Tester", "-c", "user.email=tester@example.org"]
        subprocess.run(["git", *named, *words], cwd=documents, check=True, capture_output=True)

    junit = ("--junit", str(tmp_path / "results.xml"))
    code, out, _ = waypoint("test", str(documents), *junit)
    assert (code, out.splitlines()[0], "2 passed, 0 failed" in out) == (0, "..", True)
    suite = results(tmp_path / "results.xml")
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("2", "0")

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "First")
    (documents / "gst.md").write_text(DOCUMENT.replace("9 %", "10 %"))
    waypoint("ingest", str(documents))
    code, out, _ = waypoint("test", str(documents / "gst.tests.yaml"), *junit)
    assert (code, out.splitlines()[0], "is 10 %" in out) == (1, "F.", True)
    assert "gst.tests.yaml [1] What is the rate of GST on imports into Singapore?\n  must say       '9 %'\n" in out
    [failure] = results(tmp_path / "results.xml").iter("failure")
    assert failure.attrib["message"] == "must say       '9 %'"

    code, out, _ = waypoint("test", str(documents), "--changed-since", "HEAD")
    unknown, _, err = waypoint("test", str(documents), "--changed-since", "nowhere")
    assert code == 1
    assert "  - answered: The rate of GST on imports into Singapore is 9 %." in out
    assert "  + answered: The rate of GST on imports into Singapore is 10 %." in out
    assert "1 of 2 answers changed since HEAD" in out
    assert (unknown, "nowhere" in err, "Traceback" in err) == (2, True, False)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("- question: What?", "b.tests.yaml, 1: it expects nothing: add must_say"),
        ("- question: What?\n  must_sy: this", "b.tests.yaml, 1.must_sy: known are question, must_say"),
        ("- must_say: this", "b.tests.yaml, 1.question: Field required"),
        ("question: What?", "b.tests.yaml, the file: Input should be a valid list"),
        ("- {question: [", "b.tests.yaml cannot be read"),
        ("", "holds no tests: write `*.tests.yaml` beside the documents"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_its_place(waypoint, tmp_path, text, why):
    (tmp_path / "b.tests.yaml").write_text(text)
    code, _, err = waypoint("test", str(tmp_path))

    assert (code, why in err) == (2, True), err


def outside(folder: Path) -> None:
    secret = folder.parent / "secret.yaml"
    secret.write_text("- question: hushed\n  hushed: [\n")
    (folder / "b.tests.yaml").symlink_to(secret)


LAUGHS = "\n".join(
    ["a: &a {x: 1}", *(f"{new}: &{new} {{<<: [{', '.join(['*' + old] * 9)}]}}" for old, new in pairwise("abcdefghij"))]
)
HOSTILE: dict[str, Callable[[Path], object]] = {
    "it is a symbolic link out of the folder": outside,
    "it is not a regular file": lambda folder: os.mkfifo(folder / "b.tests.yaml"),
    "is nested too deeply": lambda folder: (folder / "b.tests.yaml").write_text("[" * 100_000),
    "has more than 50000 values": lambda folder: (folder / "b.tests.yaml").write_text(LAUGHS),
    "is longer than 1,048,576 characters": lambda folder: (folder / "b.tests.yaml").write_text("- a\n" * 400_000),
    "out of the folder, or to nowhere": lambda folder: (folder / "b.tests.yaml").symlink_to(folder / "b.tests.yaml"),
    "it is a symbolic link out": lambda folder: (folder / "b.tests.yaml").symlink_to("/dev/zero"),
    "it is not a regular": lambda folder: (folder / "b.tests.yaml").mkdir(),
    "cannot be read: it is a symbolic link": lambda folder: (folder / "b.tests.yaml").symlink_to(folder.parent),
    "is not UTF-8 text": lambda folder: (folder / "b.tests.yaml").write_bytes(bytes(range(256)) * 10),
    "the file is larger than 20 MB": lambda folder: (folder / "b.tests.yaml").write_bytes(b"a" * 30 * 2**20),
}


@pytest.mark.parametrize("why", HOSTILE)
def test_a_hostile_file_of_tests_is_refused_at_once_and_shows_nothing(waypoint, tmp_path, why):
    folder = tmp_path / "desk"
    folder.mkdir()
    HOSTILE[why](folder)

    code, out, err = waypoint("test", str(folder))

    assert (code, why.removeprefix("is ") in err, "hushed" in out + err) == (2, True, False), err


def answer(text: str, outcome: str = "answered") -> Any:
    cited = {"doc_id": "01_regulatory_gst", "title": "GST Guide", "matched": True}
    held = {"metadata": {"doc_id": "01_regulatory_gst", "file_path": "01_regulatory/gst.md"}}
    return {"answer": text, "outcome": outcome, "citations": [cited], "documents": [held]}


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(categories=["Cs", "Cc", "Cn"])))
def test_the_results_are_valid_xml_whatever_question_and_answer_hold(question, words):
    case = FileCase(f"{words}.tests.yaml", 1, Case(question=question or "x", must_say="9 %"))
    said = answer(f"{question}\ufffe{words}") | {"confidence": None}

    suite = ElementTree.fromstring(junit_xml([Result(case, said, differences(case.case, said), 0.1)]))  # noqa: S314
    assert suite.attrib["failures"] == "1"


@pytest.mark.parametrize(
    ("expected", "text", "passes"),
    [
        ({"must_say": "9 %"}, "It is **9%** of the value.", True),
        ({"must_say": "9%"}, "It is 19 %.", False),
        ({"must_say": 2024}, "Since 2024.", True),
        ({"must_not_say": "VAT"}, "It is vat.", False),
        ({"must_not_say": "VAT"}, "It is private.", True),
        ({"must_cite": "gst.md"}, "It is 9 %.", True),
        ({"must_cite": ["GST guide", "01_regulatory_gst", "01_regulatory/gst.md"]}, "It is 9 %.", True),
        ({"must_cite": "guide"}, "It is 9 %.", False),
        ({"must_decline": True}, "It is 9 %.", False),
    ],
)
def test_what_an_answer_must_be_like(expected, text, passes):
    case = Case.model_validate({"question": "Rate?", **expected})

    assert (differences(case, answer(text)) == []) == passes


def test_whoever_must_not_see_a_document_gets_no_answer_from_it(waypoint, tmp_path):
    question = "- question: What is the rate of GST on imports into Singapore?\n"
    cases = f"{question}  audience: public\n  must_decline: true\n{question}  must_say: 9 %\n"
    write_documents(tmp_path, {"04_internal/gst.md": DOCUMENT, "a.tests.yaml": cases})
    waypoint("ingest", str(tmp_path))

    code, out, _ = waypoint("test", str(tmp_path))
    assert (code, out.splitlines()[0]) == (0, ".."), out


RATE = "What is the rate of GST on imports into Singapore?"


def logged(**values: Any) -> LoggedAnswer:
    return logged_answer(**{"question": RATE, "score": 1.0} | values)


def test_a_question_that_was_answered_well_becomes_a_test_that_its_answer_passes(waypoint, tmp_path):
    waypoint("ingest", str(write_documents(tmp_path / "desk", {"gst.md": DOCUMENT})))
    services = open_service(load_settings(), serving=False)
    proof = certificate(services.chain.invoke({"question": RATE}), services.index)
    store = open_answers(services.settings)
    for score in (1.0, 1.0, -1.0):
        store.add(logged(packed=pack(proof), at=store.now(), score=score))

    assert waypoint("test", "--propose", "desk/proposed.tests.yaml")[0] == 0
    [case] = [one.case for one in read_cases(Path("desk"))]
    assert (case.question, case.must_say, case.must_cite) == (RATE, ["9 %"], ["gst.md"])
    assert waypoint("test", "desk")[0] == 0
    assert "exists already" in waypoint("test", "--propose", "desk/proposed.tests.yaml")[2]


def test_nothing_is_proposed_from_answers_that_nobody_rated_well_or_that_cite_nothing(waypoint):
    assert proposed([logged(score=None), logged(outcome="unsure"), logged()]) == ""
    code, _, err = waypoint("test", "--propose", "proposed.tests.yaml")

    assert (code, "was rated well" in err) == (2, True)
    assert not Path("proposed.tests.yaml").exists()
