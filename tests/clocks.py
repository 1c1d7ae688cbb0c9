"""A clock for tests: it stands still, and waiting moves it on at once."""

from chains.clock import Clock


class StoppedClock(Clock):
    """Keeps what was slept, in seconds."""

    def __init__(self, now: float = 1000.0) -> None:
        self.time = now
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        if seconds > 0:
            self.slept.append(seconds)
            self.time += seconds

    async def asleep(self, seconds: float) -> None:
        self.sleep(seconds)
