"""A process that keeps messages for a broker that does not answer, until it is killed: ADDRESS PORT COUNT."""

import asyncio
import sys

from tests.event_stores import Place, message


async def main(place: Place, port: int, count: int) -> None:
    outbox = place.outbox(port, capacity=count)
    async with outbox.running():
        for number in range(count):
            outbox.submit(message(number))
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Place(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
