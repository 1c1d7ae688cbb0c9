"""A moderator judges questions beside the search, and the model writes nothing before it has."""

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableLambda

from chains import build_chain
from chains.ports import ModerationResult
from chains.safety.output_check import SystemPrompt
from chains.safety.screening import CheckQuestion, Moderate, Safety
from tests.chains.gst import DOCUMENT, QUESTION, Shelf, writing
from tests.streams import asked
from tests.waiting import PATIENCE_S

TEXTS: Any = {"moderation": "I cannot help with this.", "self_harm": "Please call somebody."}
ALLOWED, FLAGGED = ModerationResult(flagged=False), ModerationResult(flagged=True, categories=("hate", "privacy"))
DANGER = ModerationResult(flagged=True, categories=("hate", "self-harm/intent"))
ways = pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])


def moderating(moderator: Any, *, model: Any = None, retriever: Any = None, **options: Any) -> Runnable[Any, Any]:
    moderate = Moderate(moderator, TEXTS, **options)
    safety = Safety(question=CheckQuestion({}), prompt=SystemPrompt(""), moderate=moderate)
    return build_chain(retriever=retriever or Shelf(), model=model or writing(), safety=safety)


def saying(result: ModerationResult) -> Runnable[str, ModerationResult]:
    return RunnableLambda(lambda _: result)


@ways
@pytest.mark.parametrize(("result", "text"), [(FLAGGED, TEXTS["moderation"]), (DANGER, TEXTS["self_harm"])])
async def test_a_flagged_question_is_blocked_and_neither_model_nor_passages_are_shown(way, result, text):
    answer = await asked(moderating(saying(result), model=writing(times=0)), way, QUESTION)

    assert (answer["outcome"], answer["answer"]) == ("blocked", text)
    assert [answer[name] for name in ("documents", "citations", "sources", "related_docs")] == [[], [], [], []]
    safety = answer["metadata"]["safety"]
    assert (safety["action"], safety["reason"]) == ("blocked", "moderation")
    assert safety["moderation"] == {"result": "flagged", "categories": list(result.categories)}


@ways
async def test_a_question_is_answered_where_the_moderator_fails(way):
    def fail(_: str) -> ModerationResult:
        raise ValueError

    answer = await asked(moderating(RunnableLambda(fail)), way, QUESTION)

    assert answer["outcome"] == "answered"
    assert answer["metadata"]["safety"]["action"] == "none"
    assert answer["metadata"]["safety"]["moderation"] == {"result": "failed", "categories": []}


@ways
async def test_a_question_is_answered_where_the_moderator_takes_too_long(way):
    finish = threading.Event()

    def wait(_: str) -> ModerationResult:
        finish.wait(60)
        return FLAGGED

    async def never(_: str) -> ModerationResult:
        await asyncio.Event().wait()
        return FLAGGED

    answer = await asked(moderating(RunnableLambda(wait, never), timeout_s=0.02), way, QUESTION)
    finish.set()

    assert (answer["outcome"], answer["metadata"]["safety"]["moderation"]["result"]) == ("answered", "failed")


@ways
async def test_the_moderator_is_asked_beside_the_search(way):
    both, aboth = threading.Barrier(2, timeout=PATIENCE_S), asyncio.Barrier(2)

    def search(_: str) -> list[Document]:
        both.wait()
        return [DOCUMENT]

    async def asearch(_: str) -> list[Document]:
        await aboth.wait()
        return [DOCUMENT]

    def judge(_: str) -> ModerationResult:
        both.wait()
        return ALLOWED

    async def ajudge(_: str) -> ModerationResult:
        await aboth.wait()
        return ALLOWED

    chain = moderating(RunnableLambda(judge, ajudge), retriever=RunnableLambda(search, asearch))

    answer = await asked(chain, way, QUESTION)
    assert (answer["outcome"], answer["metadata"]["safety"]["moderation"]["result"]) == ("answered", "allowed")


@pytest.mark.parametrize("way", ["ainvoke", "astream"])
async def test_the_moderator_is_left_when_the_caller_leaves(way):
    begun, left = asyncio.Event(), asyncio.Event()

    async def judge(_: str) -> ModerationResult:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            left.set()
        return ALLOWED

    moderator = RunnableLambda(lambda _: ALLOWED, judge)
    asking = asyncio.create_task(asked(moderating(moderator), way, QUESTION))
    await begun.wait()
    asking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asking
    await asyncio.wait_for(left.wait(), timeout=PATIENCE_S)


async def test_a_stream_shows_no_passage_before_the_moderator_has_judged():
    judged = threading.Event()

    def judge(_: str) -> ModerationResult:
        judged.set()
        return FLAGGED

    for part in moderating(RunnableLambda(judge)).stream(QUESTION):
        assert "documents" not in part or (judged.is_set() and part["documents"] == [])


@pytest.mark.parametrize(
    ("result", "is_flagged"),
    [
        (FLAGGED, True),
        (ModerationResult(flagged=True), True),
        (ModerationResult(flagged=True, categories=("privacy",)), False),
        (ModerationResult(flagged=False, categories=("hate",)), False),
    ],
)
async def test_a_category_that_is_ignored_stops_no_question_by_itself(result, is_flagged):
    chain = moderating(saying(result), ignored=["privacy"])

    assert (chain.invoke(QUESTION)["outcome"] == "blocked") is is_flagged


def test_what_is_blocked_already_and_small_talk_are_not_sent():
    sent: list[str] = []

    def judge(text: str) -> ModerationResult:
        sent.append(text)
        return ALLOWED

    chain = moderating(RunnableLambda(judge))

    answers = [chain.invoke({"question": text}) for text in ("Thank you!", "Rate?")]

    assert sent == ["Rate?"]
    assert [answer["metadata"]["safety"]["moderation"] for answer in answers] == [
        None,
        {"result": "allowed", "categories": []},
    ]


def test_who_is_in_danger_gets_help_also_where_the_question_is_out_of_scope():
    scope: Any = RunnableLambda(lambda _: {"intent": "offdomain", "text": "I only know freight."})
    moderate = Moderate(saying(DANGER), TEXTS)
    safety = Safety(question=CheckQuestion({}), prompt=SystemPrompt(""), moderate=moderate)
    chain = build_chain(retriever=Shelf(), model=writing(), scope=scope, safety=safety)

    assert chain.invoke({"question": "I want to die"})["answer"] == TEXTS["self_harm"]


def test_the_chain_can_be_drawn_with_its_moderator():
    drawn = moderating(saying(ALLOWED)).get_graph().draw_mermaid()

    assert "retrieval" in drawn
    assert "Shelf" in drawn
