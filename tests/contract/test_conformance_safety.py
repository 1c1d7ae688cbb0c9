"""The cases of the LCEL chatbot's checks of questions: equal, or different for a reason that stands here."""

import re
from typing import Any

import pytest
from langchain_core.documents import Document
from pytest_httpserver import HTTPServer

from app.wings.safety.injection import Scanner
from app.wings.safety.moderator import OpenAIModeration
from app.wings.safety.pii import redact
from app.wiring.chain import THRESHOLDS
from chains import build_chain
from chains.clock import Clock
from chains.errors import QuestionError
from chains.resilience import RetryPolicy
from chains.safety.cleaning import sanitize
from chains.safety.output_check import SystemPrompt
from chains.safety.screening import CheckQuestion, Moderate, Safety
from tests.chains.gst import writing
from tests.clocks import StoppedClock
from tests.contract.recorded import recorded

REFUSALS: Any = {"injection": "No.", "pii": "No.", "moderation": "No.", "self_harm": "No."}
# Case -> why ours differs from what is expected.
DEVIATIONS = {
    "lcel-083": "characters without width leave the question: an attack hides in them from every check behind",
    "lcel-015": "a licence is a permit of the trade here, unless it is a driver's",
    "lcel-017": "postal codes are no personal data of this trade",
    "lcel-033": "the same: the postal code stays",
    "lcel-037": "two letters and six digits without the word passport are a booking or a permit",
    "lcel-087": "a question above 1,000 characters is refused by the Waypoint contract, never cut",
    "lcel-227": "moderation runs beside the search, so that no question waits for it: the question is embedded",
}

# The peer's names of kinds, and ours.
KINDS = {
    "EMAIL": "EMAIL",
    "PHONE": "PHONE",
    "SSN": "SSN",
    "CREDITCARD": "CREDIT_CARD",
    "IPADDRESS": "IP_ADDRESS",
    "PASSPORT": "PASSPORT",
    "DRIVERLICENSE": "DRIVER_LICENSE",
    "ZIPCODE": "POSTAL_CODE",
    "DATEOFBIRTH": "DATE_OF_BIRTH",
    "APIKEY": "API_KEY",
}
# The peer blocks a question that holds personal data, and so does SAFETY_PII=block.
check = CheckQuestion(REFUSALS, risk=Scanner().question, thresholds=THRESHOLDS, block_pii=True)


def moderator(server: HTTPServer, clock: Clock) -> OpenAIModeration:
    """Return the client of a moderation service on loopback, whose waits are as long as the policy says."""
    policy = RetryPolicy(chance=lambda: 0.0)
    return OpenAIModeration(base_url=server.url_for("/v1"), model="m", api_key=None, policy=policy, clock=clock)


def holds(case: dict[str, Any], is_equal: bool) -> None:
    """Assert that ours is equal, or is different and listed."""
    assert is_equal is (case["id"] not in DEVIATIONS), DEVIATIONS.get(case["id"], case)


@pytest.mark.parametrize("case", recorded("injection"))
def test_injection(case: dict[str, Any]):
    is_caught = Scanner().question(case["input"]["text"]) >= THRESHOLDS.guard

    holds(case, is_caught is case["expected"])


@pytest.mark.parametrize("case", recorded("sanitization"))
def test_sanitization(case: dict[str, Any]):
    match case["input"]:
        case {"text": text}:
            holds(case, sanitize(text) == case["expected"])
        case {"value": "<undefined>"}:
            with pytest.raises(QuestionError, match="must be a string"):
                CheckQuestion(REFUSALS)({"question": None})  # type: ignore[typeddict-item]
        case {"value": value}:
            with pytest.raises(QuestionError, match="cannot be empty"):
                CheckQuestion(REFUSALS)({"question": sanitize(value)})
        case {"len": length}:
            holds(case, len(sanitize("a" * length)) == case["expected"]["len"])


@pytest.mark.parametrize("case", recorded("pii"))
def test_pii(case: dict[str, Any]):
    expected, text = case["expected"], case["input"]["text"]
    # One kind for each place; the peer names a passport as a driver's licence too.
    as_expected = re.sub(r"\[(\w+)_REDACTED\]", lambda found: f"<{KINDS[found[1]]}>", expected["redacted"])

    holds(case, redact(text).text == as_expected and bool(redact(text).kinds) is expected["detected"])


@pytest.mark.parametrize("case", recorded("safety"))
def test_the_check_of_a_question(case: dict[str, Any]):
    expected, redacted = case["expected"], redact(case["input"]["question"])
    verdict = check({"question": redacted.text, "redacted": redacted.kinds})

    assert (verdict["action"] == "none") is expected["safe"]
    assert (verdict["injection"] >= THRESHOLDS.guard) is expected.get("injectionDetected", False)
    assert bool(verdict["redacted"]) is expected["piiDetected"]["detected"]


@pytest.mark.parametrize("case", recorded("chain_safety"))
def test_the_chain_answers_or_refuses(case: dict[str, Any], httpserver: HTTPServer):
    searched: list[str] = []
    flagged = {"flagged": "moderation" in case["input"], "categories": {"violence": True}}
    httpserver.expect_request("/v1/moderations").respond_with_json({"results": [flagged]})
    moderate = Moderate(moderator(httpserver, StoppedClock()), REFUSALS)
    safety = Safety(question=check, prompt=SystemPrompt(""), moderate=moderate)

    def search(query: str) -> list[Document]:
        searched.append(query)
        return []

    chain = build_chain(retriever=search, model=writing(times=0), safety=safety)
    redacted = redact(case["input"].get("question", "Q?"))

    answer = chain.invoke({"question": redacted.text, "redacted": redacted.kinds})

    expected = case["expected"]
    assert (answer["outcome"] != "blocked") is expected["ok"]
    assert answer["metadata"]["model"] is None  # No model was asked.
    if not expected["ok"]:
        holds(case, len(searched) == expected["emb_calls"])


@pytest.mark.parametrize("case", recorded("moderation"))
def test_moderation(case: dict[str, Any], httpserver: HTTPServer):
    clock, expected = StoppedClock(), case["expected"]
    httpserver.expect_request("/v1/moderations").respond_with_data("wait", status=429)

    verdict = Moderate(moderator(httpserver, clock), REFUSALS, clock=clock).invoke({"question": "Q?"})

    assert verdict is not None
    is_flagged, waits_ms = verdict["result"] == "flagged", [1000 * seconds for seconds in clock.slept]
    ours = (is_flagged, verdict["categories"], len(httpserver.log), waits_ms)
    result = expected["result"]
    holds(case, ours == (result["flagged"], list(result["categories"]), expected["calls"], expected["backoff_ms"]))
