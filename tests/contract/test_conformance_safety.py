"""The cases of the LCEL chatbot's checks of questions: equal, or different for a reason that stands here."""

import json
from typing import Any

import pytest

from app.wiring.safety import THRESHOLDS
from chains.errors import QuestionError
from chains.safety import CheckQuestion, sanitize
from chains.safety.injection import Scanner
from tests.conftest import SHARED

CASES = SHARED / "conformance" / "lcel.jsonl"
REFUSALS: Any = {"injection": "No.", "pii": "No."}
# Case -> why ours differs from what is expected.
DEVIATIONS = {
    "lcel-083": "characters without width leave the question: an attack hides in them from every check behind",
    "lcel-087": "a question above 1,000 characters is refused by the Waypoint contract, never cut",
}


def cases(*areas: str) -> list[Any]:
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()] if CASES.exists() else []
    found = [pytest.param(row, id=row["id"]) for row in rows if row["area"] in areas]
    return found or [pytest.param(None, marks=pytest.mark.skip("no conformance cases here"))]


@pytest.mark.parametrize("case", cases("injection"))
def test_injection(case: dict[str, Any]):
    is_caught = Scanner().question(case["input"]["text"]) >= THRESHOLDS.guard

    assert is_caught is case["expected"] or case["id"] in DEVIATIONS


@pytest.mark.parametrize("case", cases("sanitization"))
def test_sanitization(case: dict[str, Any]):
    match case["input"]:
        case {"text": text}:
            assert sanitize(text) == case["expected"] or case["id"] in DEVIATIONS
        case {"value": "<undefined>"}:
            with pytest.raises(QuestionError, match="must be a string"):
                CheckQuestion(REFUSALS)({"question": None})  # type: ignore[typeddict-item]
        case {"value": value}:
            with pytest.raises(QuestionError, match="cannot be empty"):
                CheckQuestion(REFUSALS)({"question": sanitize(value)})
        case {"len": length}:
            assert len(sanitize("a" * length)) == case["expected"]["len"] or case["id"] in DEVIATIONS
