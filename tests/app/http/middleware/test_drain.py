import asyncio

from app.http.middleware.limits import InFlight


async def test_a_drain_ends_with_the_last_request():
    in_flight = InFlight()
    with in_flight.request():
        draining = asyncio.create_task(in_flight.drain(timeout_s=60))
        await asyncio.sleep(0)
        assert (in_flight.phase, draining.done()) == ("draining", False)
    await draining


async def test_a_drain_ends_when_its_time_is_over():
    in_flight = InFlight()
    with in_flight.request():
        await in_flight.drain(timeout_s=0)
    assert in_flight.running == 0
