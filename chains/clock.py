"""A clock that is handed in, so that tests need not wait."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time and waits."""

    def now(self) -> float:
        """Return a time in seconds that only grows; its zero means nothing."""

    def sleep(self, seconds: float) -> None: ...

    async def asleep(self, seconds: float) -> None:
        """Wait without holding up the event loop."""


class SystemClock:
    """The machine's own clock."""

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def asleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def timestamp() -> str:
    """Return the time now, ISO 8601 in UTC, with microseconds and Z."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
