import json
from pathlib import Path
from typing import Any

import pytest

import prompts
from app.settings import load_settings
from app.wiring import open_service
from app.wiring.storage import ledger_of

RATE = "What is the rate of GST on imports into Singapore?"
GUIDE = "# GST Guide\n\n## Rate\n\nThe rate of GST on imports into Singapore is 9 %.\n"


def write_questions(path: Path, *, right: int, wrong: int = 0) -> str:
    case: dict[str, Any] = {"question": RATE, "gold": [{"file": "gst.md"}], "answer_facts": ["9 %"]}
    cases = [case | {"id": f"right {number}"} for number in range(right)]
    cases += [case | {"id": f"wrong {number}", "answer_facts": ["11 %"]} for number in range(wrong)]
    path.write_text("\n".join(map(json.dumps, cases)))
    return str(path)


@pytest.fixture
def desk(waypoint, tmp_path) -> Path:
    folder = tmp_path / "desk"
    folder.mkdir()
    (folder / "gst.md").write_text(GUIDE)
    waypoint("ingest", str(folder))
    return folder


@pytest.fixture
def certified(waypoint, desk, tmp_path) -> Path:
    code, out, _ = waypoint("eval", write_questions(tmp_path / "questions.jsonl", right=30), "--certify")

    assert code == 0
    assert "30 of 30 answers reach it, 0 of them wrong.\nAt most 7.4 % of such answers are wrong" in out
    return desk


def confidence(waypoint, question: str = RATE) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(waypoint("ask", "--json", question)[1])["confidence"]
    return found


def finding(waypoint) -> dict[str, Any]:
    [found] = [
        one for one in json.loads(waypoint("doctor", "--json")[1])["findings"] if one["part"] == "certified confidence"
    ]
    return dict(found)


def test_without_a_certificate_levels_are_as_they_were(waypoint, desk):
    assert confidence(waypoint)["level"] == "high"
    assert "ertified" not in confidence(waypoint)["reason"]
    assert finding(waypoint)["state"] == "off"


def test_what_is_certified_is_high_in_its_own_chain_alone_and_a_damaged_certificate_is_named(waypoint, certified):
    found = confidence(waypoint)
    assert found["level"] == "high"
    assert found["reason"].endswith(". Certified: at most 10 % of such answers are wrong")
    ledger = ledger_of(load_settings(_env_file=None))
    kept = json.loads(str(ledger.fact("certificate")))
    assert found["score"] >= kept["threshold"]
    assert (kept["questions"], kept["kept"], kept["wrong"]) == (30, 30, 0)
    assert finding(waypoint)["state"] == "ok"
    services = open_service(load_settings(_env_file=None), serving=False)
    chains: list[Any] = [services.chain, services.numbered_chain()]
    titled, numbered = (chain.invoke({"question": RATE})["confidence"] for chain in chains)
    assert (titled["level"], numbered["level"]) == ("high", "medium")
    assert numbered["reason"].endswith(". Not certified: changed citation style")
    ledger.state("certificate", "{}")
    assert "make it again by `waypoint eval QUESTIONS --certify`, or remove it" in waypoint("ask", RATE)[2]
    assert finding(waypoint)["state"] == "failed"


def test_nothing_is_high_once_the_documents_changed_until_the_certificate_is_removed(waypoint, certified, tmp_path):
    (certified / "vat.md").write_text("# VAT Guide\n\n## Rate\n\nThe rate of VAT in Indonesia is 11 %.\n")
    waypoint("ingest", str(certified))
    found, told = confidence(waypoint), finding(waypoint)
    assert (found["level"], found["reason"].endswith(". Not certified: changed index")) == ("medium", True)
    assert "high_confidence_not_certified" in waypoint("ask", RATE)[2]
    assert (told["state"], told["required"]) == ("failed", False)
    assert "changed since it was certified: index" in told["detail"]
    waypoint("eval", write_questions(tmp_path / "few.jsonl", right=1), "--no-certify")
    assert (confidence(waypoint)["level"], finding(waypoint)["state"]) == ("high", "off")


def test_nothing_is_high_under_other_settings_but_without_factors(waypoint, certified, monkeypatch):
    Path("texts").mkdir()
    Path("texts/system.txt").write_text(prompts.load("system", None) + "\nBe brief.")
    model = json.loads((Path(__file__).parents[2] / "chains/confidence/calibrated.json").read_text())
    Path("own.json").write_text(json.dumps(model | {"intercept": 2.0}))
    for setting, value, changed in (
        ("RETRIEVAL_TOP_K", "3", "settings"),
        ("PROMPTS_PATH", "texts", "prompts, settings"),
        ("CONFIDENCE_MODEL", "own.json", "settings, confidence model"),
    ):
        with monkeypatch.context() as patch:
            patch.setenv(setting, value)
            found = confidence(waypoint)
        assert (found["level"], found["reason"].partition("Not certified: ")[2]) == ("medium", f"changed {changed}")
    monkeypatch.setenv("CONFIDENCE_INCLUDE_FACTORS", "false")
    assert confidence(waypoint)["level"] == "high"


def test_too_few_questions_and_too_many_wrong_answers_are_told_and_nothing_is_written(waypoint, desk, tmp_path):
    code, _, err = waypoint("eval", write_questions(tmp_path / "few.jsonl", right=11), "--certify")
    assert code == 1
    assert "needs 22 answers with high scores and none of them wrong" in err
    assert "About 22 questions like these are needed, not 11" in err
    code, _, err = waypoint("eval", write_questions(tmp_path / "wrong.jsonl", right=30, wrong=10), "--certify")
    assert (code, "More questions would not do" in err) == (1, True)
    assert ledger_of(load_settings(_env_file=None)).fact("certificate") is None


@pytest.mark.parametrize(
    ("options", "settings", "why"),
    [
        ([], {"CONFIDENCE_STRATEGY": "tiered"}, "CONFIDENCE_STRATEGY=calibrated"),
        ([], {"CONFIDENCE_ENABLED": "false"}, "CONFIDENCE_ENABLED=true"),
        ([], {"RETRIEVAL_URL": "http://127.0.0.1:9"}, "RETRIEVAL_URL asks another service"),
        (["--fit", "own.json"], {}, "leave out --fit"),
        (["--compare", "a", "b"], {}, "leave out --certify"),
    ],
)
def test_what_cannot_be_certified_is_refused(waypoint, tmp_path, monkeypatch, options, settings, why):
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    code, out, err = waypoint("eval", write_questions(tmp_path / "questions.jsonl", right=1), "--certify", *options)

    assert (code, out) == (2, "")
    assert why in err
