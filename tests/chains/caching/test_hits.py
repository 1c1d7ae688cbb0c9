import pytest
from langchain_core.runnables import RunnableConfig, RunnableLambda

from chains.callbacks import CallRecord, note

FOUND, MISSED = True, False


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([], None),
        ([("embedding", MISSED)], None),
        ([("embedding", FOUND), ("retrieval", MISSED)], "embedding"),
        ([("embedding", FOUND), ("retrieval", FOUND)], "retrieval"),
        ([("embedding", MISSED), ("retrieval", MISSED), ("embedding", FOUND)], None),  # It was put there a moment ago.
    ],
)
@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
async def test_a_call_tells_the_furthest_of_its_own_hits_whichever_way_it_was_made(events, told, way):
    def look(_: object) -> None:
        for level, found in events:
            note(level, found)

    record, chain = CallRecord(), RunnableLambda(look) | RunnableLambda(lambda _: None)
    config = RunnableConfig(callbacks=[record])
    if way == "invoke":
        chain.invoke("", config)
    elif way == "ainvoke":
        await chain.ainvoke("", config)
    elif way == "stream":
        list(chain.stream("", config))
    else:
        [part async for part in chain.astream("", config)]

    assert record.furthest_hit() == told


def test_outside_of_a_call_a_hit_is_nobodys():
    record = CallRecord()
    note("embedding", FOUND)
    assert record.furthest_hit() is None
