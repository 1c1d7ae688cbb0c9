"""Profile the event loop's thread while questions are answered, by package."""

import asyncio
import cProfile
import pstats
from collections import Counter
from pathlib import Path
from typing import Any, cast

from app.observability.logs import configure_logs
from app.settings import Settings
from app.wiring import Services

ROOT = Path(__file__).parents[2]
MOST = 8


async def profiled(settings: Settings, questions: list[str], *, users: int, rounds: int = 8) -> tuple[float, list[Any]]:
    """Return the milliseconds of a question, and (package, share of them) for the packages that take most."""
    configure_logs("error")
    services = Services(settings)
    await asyncio.to_thread(services.warm_up)

    async def user(number: int) -> None:
        for turn in range(rounds):
            question = f"{questions[(number + turn) % len(questions)]} (case {number}-{turn})"
            await services.chain.ainvoke({"question": question})

    await user(0)
    profile = cProfile.Profile()
    profile.enable()
    await asyncio.gather(*(user(number) for number in range(users)))
    profile.disable()
    return _shares(profile, users * rounds)


def _shares(profile: cProfile.Profile, questions: int) -> tuple[float, list[Any]]:
    seconds: Counter[str] = Counter()
    stats: dict[Any, Any] = cast("Any", pstats.Stats(profile)).stats
    for (file, _, function), (_, _, own, _, _) in stats.items():
        if "poll" not in function:  # The loop waits there.
            seconds[_package(file)] += own
    total = sum(seconds.values())
    return 1000 * total / questions, [(name, own / total) for name, own in seconds.most_common(MOST)]


def _package(file: str) -> str:
    parts = Path(file).parts
    if "site-packages" in parts:
        return parts[parts.index("site-packages") + 1].removesuffix(".py")
    if file.startswith(str(ROOT)):
        return "Waypoint itself"
    return "built-in functions" if file.startswith(("~", "<")) else "the standard library"
