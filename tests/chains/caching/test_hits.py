import pytest
from langchain_core.runnables import RunnableConfig, RunnableLambda

from chains.callbacks.handlers import CacheHits, furthest_hit, note

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

    chain = RunnableLambda(look) | RunnableLambda(lambda _, config: furthest_hit(config))
    config = RunnableConfig(callbacks=[CacheHits()])
    if way == "invoke":
        found = chain.invoke("", config)
    elif way == "ainvoke":
        found = await chain.ainvoke("", config)
    elif way == "stream":
        [found] = chain.stream("", config)
    else:
        [found] = [part async for part in chain.astream("", config)]

    assert found == told


def test_outside_of_a_call_a_hit_is_nobodys():
    note("embedding", FOUND)
    assert furthest_hit({}) is None
