"""Equal questions at the same time. Nothing here is timed: what has to happen is waited for."""

import asyncio
import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from chains.errors import LLMTimeoutError
from chains.output import merge
from tests.chains.caching.chain import PATIENCE_S, Desk, answer
from tests.waiting import await_until, wait_until

Q = {"question": "Q?"}
AT_ONCE = 8


def blocked() -> Desk:
    desk = Desk()
    desk.chain.gate.clear()
    return desk


def whole_stream(desk: Desk):
    return merge(desk.cached.stream(Q))


async def whole_astream(desk: Desk):
    return merge([part async for part in desk.cached.astream(Q)])


def answers_of(told):
    """Return the answers without what is each asker's own, and how many of them came from another call."""
    own = [one["metadata"] for one in told]
    return [one | {"metadata": None} for one in told], sum(metadata["cache"] == "answer" for metadata in own)


def test_equal_questions_in_threads_are_one_call():
    desk = blocked()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        ways = [lambda: desk.cached.invoke(Q), lambda: whole_stream(desk)] * (AT_ONCE // 2)
        futures = [pool.submit(way) for way in ways]
        wait_until(lambda: desk.count("misses") == AT_ONCE)
        desk.chain.gate.set()
        told, shared = answers_of([future.result(PATIENCE_S) for future in futures])

    assert desk.chain.calls == 1
    assert told == [answer() | {"metadata": None}] * AT_ONCE
    assert shared == AT_ONCE - 1 == desk.count("shared") + desk.count("hits")


async def test_equal_questions_in_an_event_loop_are_one_call():
    desk = blocked()
    tasks = [asyncio.ensure_future(way) for _ in range(4) for way in (desk.cached.ainvoke(Q), whole_astream(desk))]
    await await_until(lambda: desk.count("shared") == AT_ONCE - 1)
    desk.chain.gate.set()
    told, shared = answers_of(await asyncio.gather(*tasks))

    assert desk.chain.calls == 1
    assert told == [answer() | {"metadata": None}] * AT_ONCE
    assert shared == AT_ONCE - 1


@pytest.mark.parametrize("leader", ["thread", "event loop"])
async def test_threads_and_event_loops_share_a_call(leader):
    desk = blocked()
    ways = [lambda: asyncio.to_thread(desk.cached.invoke, Q), lambda: desk.cached.ainvoke(Q)]
    tasks = []
    for way in ways if leader == "thread" else reversed(ways):
        tasks.append(asyncio.ensure_future(way()))
        await await_until(lambda: desk.chain.calls == 1 and desk.count("misses") == len(tasks))
    await await_until(lambda: desk.count("shared") == 1)
    desk.chain.gate.set()
    await asyncio.gather(*tasks)

    assert desk.chain.calls == 1


async def test_the_parts_of_a_stream_reach_all_as_they_come():
    desk = blocked()
    leader, follower = desk.cached.astream(Q), desk.cached.astream(Q)

    assert await anext(leader) == {"question": "Q?"}
    assert await anext(follower) == {"question": "Q?"}
    assert not desk.chain.finished
    desk.chain.gate.set()
    assert merge([{"question": "Q?"}, *[part async for part in follower]])["answer"] == answer()["answer"]
    await leader.aclose()  # It never read on, and held nobody up.


@pytest.mark.parametrize("ways", [("stream", "invoke"), ("invoke", "stream")])
def test_the_error_of_the_call_is_everybodys(ways):
    desk = blocked()
    desk.chain.error = LLMTimeoutError("late")
    asking = {"invoke": lambda: desk.cached.invoke(Q), "stream": lambda: whole_stream(desk)}
    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(asking[way]) for way in ways]
        wait_until(lambda: desk.count("shared") == 1)
        desk.chain.gate.set()
        for future in futures:
            with pytest.raises(LLMTimeoutError):
                future.result(PATIENCE_S)

    desk.chain.error = None
    assert desk.cached.invoke(Q)["metadata"]["cache"] is None


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


def test_when_the_reader_of_a_stream_has_left_the_call_is_stopped():
    desk = blocked()
    threads = threading.active_count()
    stream = desk.cached.stream(Q)
    next(stream)
    stream.close()
    desk.chain.gate.set()

    wait_until(lambda: desk.chain.left == 1)
    wait_until(lambda: threading.active_count() <= threads)
    assert whole_stream(desk)["metadata"]["cache"] is None


def test_a_stream_that_nobody_reads_on_holds_nobody_up_not_even_its_own_thread():
    desk = Desk()
    stream = desk.cached.stream(Q)
    next(stream)

    assert desk.cached.invoke(Q)["answer"] == answer()["answer"]
    assert desk.chain.calls == 1
    assert merge(stream)["answer"] == answer()["answer"]


async def test_who_blocks_the_event_loop_does_not_wait_for_what_runs_in_it():
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
