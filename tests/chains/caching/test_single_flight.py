"""Equal questions at the same time. Nothing here is timed: the tests wait for what has to happen."""

import asyncio
import gc
import threading

import pytest

from chains.errors import LLMTimeoutError
from chains.output import merge
from tests.chains.caching.chain import Desk, answer
from tests.waiting import await_until

Q = {"question": "Q?"}
AT_ONCE = 8


def blocked() -> Desk:
    desk = Desk()
    desk.chain.gate.clear()
    return desk


async def whole_astream(desk: Desk):
    return merge([part async for part in desk.cached.astream(Q)])


def answers_of(told):
    """Return the answers without what is each asker's own, and how many of them came from another call."""
    own = [one["metadata"] for one in told]
    return [one | {"metadata": None} for one in told], sum(metadata["cache"] == "answer" for metadata in own)


async def test_equal_questions_in_an_event_loop_are_one_call():
    desk = blocked()
    tasks = [asyncio.ensure_future(way) for _ in range(4) for way in (desk.cached.ainvoke(Q), whole_astream(desk))]
    await await_until(lambda: desk.count("shared") == AT_ONCE - 1)
    desk.chain.gate.set()
    told, shared = answers_of(await asyncio.gather(*tasks))

    assert desk.chain.calls == 1
    assert told == [answer() | {"metadata": None}] * AT_ONCE
    assert shared == AT_ONCE - 1


async def test_the_parts_of_a_stream_reach_all_as_they_come():
    desk = blocked()
    leader, follower = desk.cached.astream(Q), desk.cached.astream(Q)

    assert await anext(leader) == {"question": "Q?"}
    assert await anext(follower) == {"question": "Q?"}
    assert not desk.chain.finished
    desk.chain.gate.set()
    assert merge([{"question": "Q?"}, *[part async for part in follower]])["answer"] == answer()["answer"]
    await leader.aclose()  # It never read on, and held nobody up.


async def test_the_error_of_the_call_is_everybody_s():
    desk = blocked()
    desk.chain.error = LLMTimeoutError("late")
    tasks = [asyncio.ensure_future(way) for way in (desk.cached.ainvoke(Q), whole_astream(desk))]
    await await_until(lambda: desk.count("shared") == 1)
    desk.chain.gate.set()

    assert [type(error) for error in await asyncio.gather(*tasks, return_exceptions=True)] == [LLMTimeoutError] * 2
    desk.chain.error = None
    assert (await desk.cached.ainvoke(Q))["metadata"]["cache"] is None


@pytest.mark.parametrize("way", ["ainvoke", "astream"])
async def test_who_came_first_may_leave_and_the_others_get_their_answer(way):
    desk = blocked()
    leader = asyncio.ensure_future(desk.cached.ainvoke(Q) if way == "ainvoke" else whole_astream(desk))
    await await_until(lambda: desk.chain.calls == 1)
    follower = asyncio.ensure_future(whole_astream(desk))
    await await_until(lambda: desk.count("shared") == 1)

    leader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leader
    desk.chain.gate.set()

    assert (await follower)["answer"] == answer()["answer"]
    assert desk.chain.calls == 1


@pytest.mark.parametrize("way", ["cancelled", "closed"])
async def test_when_all_have_left_the_call_is_stopped_and_no_task_remains(way):
    desk, before = blocked(), asyncio.all_tasks()
    if way == "closed":
        streams = [desk.cached.astream(Q) for _ in range(2)]
        for stream in streams:
            await anext(stream)
        for stream in streams:
            await stream.aclose()
    else:
        tasks = [asyncio.ensure_future(whole_astream(desk)) for _ in range(2)]
        await await_until(lambda: desk.count("shared") == 1)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    await await_until(lambda: desk.chain.left == 1)
    await await_until(lambda: asyncio.all_tasks() <= before)
    desk.chain.gate.set()
    assert (await whole_astream(desk))["metadata"]["cache"] is None


async def test_a_call_that_blocks_the_event_loop_does_not_wait_for_one_that_runs_in_it():
    desk = blocked()
    leader = asyncio.ensure_future(desk.cached.ainvoke(Q))
    await await_until(lambda: desk.chain.calls == 1)
    threading.Timer(0.01, desk.chain.gate.set).start()

    assert desk.cached.invoke(Q)["answer"] == answer()["answer"]
    assert (await leader)["answer"] == answer()["answer"]


def test_an_event_loop_that_ends_in_the_middle_leaves_nothing_behind():
    desk = blocked()

    async def begin() -> None:
        task = asyncio.ensure_future(desk.cached.ainvoke(Q))
        await await_until(lambda: desk.chain.calls == 1)
        task.cancel()

    asyncio.run(begin())
    gc.collect()
    desk.chain.gate.set()
    assert desk.cached.invoke(Q)["metadata"]["cache"] is None
