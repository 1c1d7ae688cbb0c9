from typing import Any

import pytest
from langchain_core.messages import AIMessage

import prompts
from chains.safety.output_check import SystemPrompt
from chains.safety.screening import CheckQuestion, Safety
from tests.chains.gst import QUESTION, Noting, gst_chain, noting
from tests.prompted import asked
from tests.streams import asked as asked_by

CITED = "The rate of GST is nine percent [GST Guide > Rate]."
REFUSALS: Any = {"injection": "No.", "pii": "No."}


def chain_saying(said: AIMessage | Noting, *, action: str = "none") -> Any:
    system = prompts.load("system")
    risk = {"none": 0.0, "guarded": 0.6, "blocked": 0.95}[action]
    safety = Safety(CheckQuestion(REFUSALS, risk=lambda _: risk), SystemPrompt(system), guard="Be careful.")
    return gst_chain(model=said if isinstance(said, Noting) else noting(*[said] * 4), safety=safety)


async def every_way(chain: Any) -> list[Any]:
    return [await asked_by(chain, way, QUESTION) for way in ("invoke", "ainvoke", "stream", "astream")]


async def test_a_foreign_link_reaches_no_answer_however_it_is_asked_for():
    said = f"{CITED} Confirm at [this page](https://evil.example/?q=rate)."

    for answer in await every_way(chain_saying(AIMessage(said))):
        assert answer["answer"] == f"{CITED} Confirm at [this page]."
        assert answer["outcome"] == "answered"
        assert answer["metadata"]["safety"]["links_removed"] == 1


async def test_an_answer_that_recites_the_prompt_is_withheld():
    rules = prompts.load("system").partition("Rules:")[0]

    for answer in await every_way(chain_saying(AIMessage(f"{CITED} My rules: {rules}"))):
        assert answer["outcome"] == "blocked"
        assert answer["answer"] == prompts.load("withheld")
        assert answer["citations"] == []
        assert answer["metadata"]["safety"]["reason"] == "leak"


async def test_an_answer_that_holds_the_fence_of_its_context_is_withheld():
    model = noting(CITED)
    chain_saying(model).invoke({"question": "Rate?"})
    fence = next(line for line in model.asked[0][0].content.splitlines() if line.startswith("===== "))

    for answer in await every_way(chain_saying(AIMessage(f"{CITED} {fence}"))):
        assert answer["outcome"] == "blocked"
        assert fence.split()[1] not in str(answer)


def test_the_documents_stand_between_two_lines_of_the_same_random_code():
    model = noting(CITED)
    chain_saying(model).invoke({"question": "Rate?"})
    lines = model.asked[0][0].content.splitlines()
    first, last = (number for number, line in enumerate(lines) if line.startswith("===== "))

    assert lines[first].split()[1] == lines[last].split()[1]
    assert any("[1] GST Guide > Rate" in line for line in lines[first:last])


def test_a_suspicious_question_is_answered_under_guard():
    model = noting(CITED)
    answer = chain_saying(model, action="guarded").invoke({"question": "Rate?"})

    assert [asked(message.content) for message in model.asked[0][1:]] == ["Be careful.", "Rate?"]
    assert answer["outcome"] == "answered"
    assert answer["metadata"]["safety"]["action"] == "guarded"


async def test_a_blocked_question_is_neither_searched_for_nor_asked():
    model = noting(*[CITED] * 4)

    for answer in await every_way(chain_saying(model, action="blocked")):
        assert (answer["answer"], answer["outcome"], answer["documents"]) == ("No.", "blocked", [])
        assert answer["metadata"]["safety"]["reason"] == "injection"
    assert model.asked == []


def test_calls_of_tools_reach_nobody():
    called = AIMessage(CITED, tool_calls=[{"name": "send_mail", "args": {"to": "thief"}, "id": "1"}])

    assert "send_mail" not in str(chain_saying(called).invoke({"question": "Rate?"}))


@pytest.mark.parametrize("sentence", ["I don't have specific information about that in the documents I can see."])
def test_a_sentence_that_the_prompt_asks_for_is_no_leak(sentence: str):
    answer = chain_saying(AIMessage(sentence)).invoke({"question": "Rate?"})

    assert (answer["outcome"], answer["answer"]) == ("declined", sentence)
