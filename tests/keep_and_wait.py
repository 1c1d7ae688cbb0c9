"""A process that keeps messages for a broker that does not answer, until it is killed: FILE PORT COUNT."""

import asyncio
import sys
from pathlib import Path

from app.adapters.events.outbox import Outbox
from app.adapters.events.publisher import Publisher
from app.adapters.events.store import Message
from tests.rabbit import url


async def main(path: Path, port: int, count: int) -> None:
    outbox = Outbox(path, Publisher(url(port)), capacity=count)
    async with outbox.running():
        for number in range(count):
            outbox.submit(Message(f"m{number}", "analytics.test", "r", "{}"))
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
