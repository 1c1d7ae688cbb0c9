from typing import Any

from langchain_core.runnables import RunnableConfig, RunnableGenerator

from chains.around.runnable import Disclosure
from chains.output import AnswerChunk, merge

PARTS: list[dict[str, Any]] = [
    {"question": "Q", "answer": "Nine "},
    {"answer": "percent."},
    {"confidence": {"level": "high", "score": 0.9, "reason": "R", "factors": {"best": 0.9}}},
    {"metadata": {"query": "Q", "latency_ms": 5.0, "timings_ms": {"retrieval": 2.0}}},
]
STRANGER: RunnableConfig = {"configurable": {"audience": "public"}}
STAFF: RunnableConfig = {"configurable": {"audience": "internal"}}


def chain() -> Disclosure:
    def parts(_):
        for part in PARTS:
            yield AnswerChunk(part)

    async def aparts(_):
        for part in PARTS:
            yield AnswerChunk(part)

    return Disclosure(RunnableGenerator(parts, aparts))


def test_a_stranger_sees_level_score_and_reason_but_neither_factors_nor_laps():
    answer = chain().invoke({}, STRANGER)

    assert answer["confidence"] == {"level": "high", "score": 0.9, "reason": "R", "factors": {}}
    assert answer["metadata"] == {"query": "Q", "latency_ms": 5.0, "timings_ms": {}}
    assert (answer["question"], answer["answer"]) == ("Q", "Nine percent.")


def test_the_staff_sees_all_as_does_a_call_without_an_audience():
    assert chain().invoke({}, STAFF) == chain().invoke({}) == merge(PARTS)


async def test_every_way_of_asking_tells_a_stranger_the_same():
    whole = chain().invoke({}, STRANGER)

    assert merge(chain().stream({}, STRANGER)) == whole
    assert merge([part async for part in chain().astream({}, STRANGER)]) == whole
    assert await chain().ainvoke({}, STRANGER) == whole
