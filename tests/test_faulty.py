import asyncio

import httpx

from tests.exchange import Pace
from tests.faults import ACCIDENTS
from tests.faulty import FaultyGroq, faulty_groq
from tests.waiting import wait_until

BODY = {"model": "m", "messages": [{"role": "system", "content": ""}, {"role": "user", "content": "(ref abcdef) Why?"}]}


async def test_a_hundred_clients_are_answered_at_once():
    with faulty_groq(pace=Pace(thinking_s=0.2), keep_alive=True) as groq:
        async with httpx.AsyncClient(base_url=groq.url) as client:
            asked = [client.post("/openai/v1/chat/completions", json=BODY) for _ in range(100)]
            replies = await asyncio.gather(*asked)
            report = (await client.get("/received")).json()
        wait_until(lambda: groq.connections == 0)

    assert {reply.json()["choices"][0]["message"]["content"] for reply in replies} == {
        "Your ref abcdef. Nothing was shown."
    }
    assert report["calls"] == [["(ref abcdef) Why?", "answer"]] * 100


def test_a_seed_decides_which_requests_fail():
    first, again, other = (FaultyGroq(share=0.2, seed=seed) for seed in (7, 7, 8))
    deeds = [first.next_deed() for _ in range(500)]

    assert deeds == [again.next_deed() for _ in range(500)] != [other.next_deed() for _ in range(500)]
    assert 60 < sum(deed in ACCIDENTS for deed in deeds) < 140
