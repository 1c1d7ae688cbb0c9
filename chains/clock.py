"""A clock that is handed in, so that tests need not wait."""

import asyncio
import time
from datetime import UTC, datetime


class Clock:
    """The machine's own clock; tests hand in one that stands still."""

    def now(self) -> float:
        """Return a time in seconds that only grows; its zero means nothing."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def asleep(self, seconds: float) -> None:
        """Wait without holding up the event loop."""
        await asyncio.sleep(seconds)


def timestamp() -> str:
    """Return the time now, ISO 8601 in UTC, with microseconds and Z."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
