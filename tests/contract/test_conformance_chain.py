"""The LCEL chatbot's chain, errors, retries, breaker and tokens: its cases, run on ours; where ours differs, why."""

import math
import re
from typing import Any, cast

import groq
import httpx
import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda

from app.adapters.embeddings.onnx import OnnxEmbeddings, WordPieces
from app.adapters.llm.validated_model import map_errors
from app.http.errors import reply_to
from chains import errors
from chains.errors import LLMCircuitError, LLMError, LLMRateLimitError, LLMTimeoutError, LLMUnavailableError
from chains.pipeline import build_chain
from chains.resilience import CircuitBreaker, RetryCounter, RetryPolicy, is_retryable, retrying
from chains.retrieval.passages import retrieve
from chains.state import Searching
from tests.clocks import StoppedClock
from tests.contract.recorded import NEEDS_CASES, recorded, rows
from tests.service.desk import QUESTION, open_desk, without_breaker

CHUNK = "The first words of it."


CASES: dict[str, Any] = {row["id"]: row for row in rows("chain")}


pytestmark = NEEDS_CASES


def shelf(hits: list[dict[str, Any]]) -> Any:
    """Find the passages with the scores that were recorded."""
    return lambda _: [Document(hit["text"], metadata=hit["metadata"]) for hit in hits]


def answered(hits: list[dict[str, Any]], model: Any, question: str = "What is the refund policy?") -> Any:
    return build_chain(retriever=shelf(hits), model=model).invoke({"question": question})


def happy_path() -> tuple[list[dict[str, Any]], dict[str, Any]]:
    return CASES["lcel-220"]["expected"]["chunks_related"], CASES["lcel-220"]


def test_the_answer_comes_with_its_passages_best_first_and_what_was_measured():
    hits, case = happy_path()
    answer = answered(hits, FakeListChatModel(responses=[case["input"]["llm_answer"]]), case["input"]["question"])

    # No passage holds what the recorded model says, so ours names it and offers the passages in its place.
    assert answer["outcome"] == "ungrounded"
    assert case["expected"]["system_answer"] in answer["draft"]
    assert answer["question"] == case["expected"]["user_question"]
    assert [passage["content"] for passage in answer["documents"]] == [hit["text"] for hit in hits]
    assert [passage["score"] for passage in answer["documents"]] == [
        pytest.approx(hit["metadata"]["score"], abs=1e-6) for hit in hits
    ]
    assert {"retrieval", "generation"} <= set(answer["metadata"]["timings_ms"])
    assert answer["confidence"] is not None


def test_the_model_is_sent_the_instructions_apart_from_the_question_and_the_passages_in_order():
    hits, _ = happy_path()
    recorded = CASES["lcel-221"]["expected"]["messages"]
    seen: list[Any] = []

    def model(prompt: Any) -> AIMessage:
        seen.extend(prompt.to_messages())
        return AIMessage("Nothing.")

    answered(hits, RunnableLambda(model))
    system, question = seen[0].content, seen[-1].content
    # Ours puts the passages beside the instructions: no question can then pass for one.
    assert [message["role"] for message in recorded] == ["system", "user"]
    assert "What is the refund policy?" in question
    places = [system.index(hit["text"]) for hit in hits]
    assert places == sorted(places)


def test_without_passages_the_model_is_not_asked_and_the_confidence_is_nothing():
    expected = CASES["lcel-231"]["expected"]
    answer = answered([], FakeListChatModel(responses=["Never said."]))

    assert (answer["outcome"], answer["documents"]) == ("no_results", expected["chunks_related"])
    assert "Never said." not in answer["answer"]
    assert answer["confidence"]["score"] == expected["metadata"]["confidence"]["score"]


def test_a_stream_has_more_than_one_piece():
    hits, case = happy_path()
    model = FakeListChatModel(responses=[case["input"]["llm_answer"]])
    pieces = list(build_chain(retriever=shelf(hits), model=model).stream({"question": "What is it?"}))
    assert len(pieces) > CASES["lcel-232"]["expected"]["chunks_gt"]


def test_offsets_are_those_of_the_document_from_0_on():
    expected = CASES["lcel-233"]["expected"]
    hit = {"text": CHUNK, "metadata": {"start_char": expected["startChar"], "end_char": expected["endChar"]}}
    [passage] = answered([hit], FakeListChatModel(responses=["?"]))["documents"]
    assert passage["metadata"]["start_char"] == 0


def test_passages_below_the_threshold_are_left_out():
    case = CASES["lcel-234"]
    hits = [{"text": f"Passage {score}.", "metadata": {"score": score}} for score in case["peer_output"]["scores"]]
    asked = {"question": case["input"]["question"], "threshold": case["input"]["scoreThreshold"]}
    found = retrieve(shelf(hits)).invoke(cast("Searching", asked))
    assert [passage["score"] for passage in found] == case["expected"]["scores"]


@pytest.mark.parametrize("case", recorded("chain_resilience"))
def test_a_model_that_refuses_is_an_error_with_its_name_code_and_status_after_one_call(case, tmp_path):
    with without_breaker(), open_desk(tmp_path) as desk:
        desk.groq.always = case["input"]["llm"]
        with pytest.raises(LLMError) as caught:
            desk.services.chain.invoke({"question": QUESTION})

    assert case["expected"] == {
        "ok": False,
        "name": LLMError.__name__,
        "code": caught.value.code,
        "status": reply_to(caught.value).status,
        "llm_calls": len(desk.groq.received),
    }


REQUEST = httpx.Request("POST", "http://127.0.0.1/openai/v1/chat/completions")


DEVIATIONS = {"lcel-182": "0 is a value, and no count of failures: it is refused when the settings are read"}


STATUS = re.compile(r"^[45]\d\d\b")


WORDS = {"rate limit": 429}


TIMEOUT = re.compile(r"timed out|timeout|ETIMEDOUT", re.IGNORECASE)


CONNECTION = re.compile(r"ECONN|ENOTFOUND|Connection error", re.IGNORECASE)


def vendor_error(message: str) -> Exception:
    """Return what the client library raises where the peer saw this message."""
    status = int(found.group()) if (found := STATUS.match(message)) else WORDS.get(message.lower())
    if status:
        response = httpx.Response(status, request=REQUEST)
        return groq.APIStatusError(message, response=response, body=None)
    if TIMEOUT.search(message):
        return groq.APITimeoutError(REQUEST)
    if CONNECTION.search(message):
        return groq.APIConnectionError(message=message, request=REQUEST)
    return groq.BadRequestError(message, response=httpx.Response(400, request=REQUEST), body=None)


def ours(message: str) -> LLMError:
    with pytest.raises(LLMError) as caught, map_errors(groq):
        raise vendor_error(message)
    return caught.value


@pytest.mark.parametrize("case", recorded("retry_decision"))
def test_the_same_errors_are_met_again(case):
    expected = case["expected"]
    message = case["input"].get("message") or "timed out"
    wanted = expected["retryable"] if isinstance(expected, dict) else expected

    error = LLMTimeoutError() if "timeoutMs" in case["input"] else ours(message)
    assert is_retryable(error) == wanted


@pytest.mark.parametrize("case", recorded("retry_backoff"))
def test_the_delays_are_the_peer_s_and_the_jitter_comes_on_top(case):
    clock, calls = StoppedClock(), []
    error = LLMTimeoutError() if "timed out" in case["input"]["message"] else LLMRateLimitError()
    policy = RetryPolicy(retries=case["input"]["options"].get("maxRetries", 3), chance=lambda: 0.0)

    def work() -> str:
        calls.append(1)
        if len(calls) <= case["input"]["failures_before_success"]:
            raise error
        return "ok"

    try:
        result: Any = retrying(policy, clock, lambda: math.inf, RetryCounter())(work)
    except LLMError:
        result = {"error": case["input"]["message"]}
    found = {"calls": len(calls), "delays": [1000 * seconds for seconds in clock.slept], "result": result}
    assert found == case["expected"]


@pytest.mark.parametrize("case", recorded("circuit_breaker"))
def test_the_breaker_opens_and_closes_as_the_peer_s(case):
    if case["id"] in DEVIATIONS:
        pytest.xfail(DEVIATIONS[case["id"]])
    clock = StoppedClock()
    options = case["input"]["options"] if isinstance(case["input"]["options"], dict) else {}
    breaker = CircuitBreaker(
        clock=clock, failures=options.get("failureThreshold", 5), reset_s=options.get("resetTimeout", 60_000) / 1000
    )
    if "concurrent_calls_in_half_open" in case["input"]:
        assert herd(breaker, clock, case["input"]["concurrent_calls_in_half_open"]) == case["expected"]
    else:
        found = [list(step(breaker, clock, one)) for one in case["input"]["steps"]]
        assert without_counts(found) == without_counts(case["expected"])


def step(breaker: CircuitBreaker, clock: StoppedClock, one: Any) -> tuple[Any, ...]:
    if isinstance(one, int):
        clock.time = round(clock.time + one / 1000, 6)
        return f"+{one}ms", state(breaker)
    try:
        with breaker.guard():
            if one == "F":
                raise LLMUnavailableError
        came = "ok"
    except LLMCircuitError:
        came = "REJECTED"
    except LLMUnavailableError:
        came = "error"
    return one, came, state(breaker), breaker.failures


def without_counts(steps: list[list[Any]]) -> list[list[Any]]:
    """Leave out the count beside a state that is not CLOSED: it decides nothing there."""
    return [one if len(one) < 4 or one[2] == "CLOSED" else one[:3] for one in steps]


def state(breaker: CircuitBreaker) -> str:
    return breaker.state.upper().replace("-", "_")


def herd(breaker: CircuitBreaker, clock: StoppedClock, calls: int) -> dict[str, Any]:
    for _ in range(9):
        step(breaker, clock, "F")
    clock.time += 61
    rejected = 0
    with breaker.guard():
        for _ in range(calls - 1):
            rejected += step(breaker, clock, "S")[1] == "REJECTED"
    return {"calls_let_through": calls - rejected, "rejected": rejected, "state": state(breaker)}


@pytest.mark.parametrize("case", recorded("errors"))
def test_an_error_has_the_peer_s_name_code_and_status(case):
    kind = getattr(errors, case["input"]["class"])
    found = {"name": kind.__name__, "code": kind.code, "statusCode": reply_to(kind("x")).status}
    assert found == case["expected"]


@pytest.mark.parametrize("case", recorded("tokens"))
def test_tokens_are_counted_by_a_tokenizer(case):
    assert WordPieces(OnnxEmbeddings().tokenizer).count(case["input"]["text"]) == case["expected"]
