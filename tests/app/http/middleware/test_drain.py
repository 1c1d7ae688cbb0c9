import asyncio

from app.http.middleware.drain import InFlight


async def test_a_drain_ends_with_the_last_request():
    traffic = InFlight()
    with traffic.request():
        draining = asyncio.create_task(traffic.drain(timeout_s=60))
        await asyncio.sleep(0)
        assert (traffic.phase, draining.done()) == ("draining", False)
    await draining


async def test_a_drain_ends_when_its_time_is_over():
    traffic = InFlight()
    with traffic.request():
        await traffic.drain(timeout_s=0)
    assert traffic.running == 0
