"""A clock for tests: time passes only when somebody waits, and the waits are kept."""

from dataclasses import dataclass, field


@dataclass
class FakeClock:
    """Tells a time that grows by what was waited."""

    time: float = 1000.0
    waits: list[float] = field(default_factory=list)

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds

    async def asleep(self, seconds: float) -> None:
        self.sleep(seconds)
