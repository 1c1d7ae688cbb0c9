"""Times of what is measured, and tables in markdown."""

import time
from collections.abc import Callable, Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    first, *rest = (f"| {' | '.join(map(str, cells))} |" for cells in (head, *rows))
    return "\n".join([first, "|" + "---|" * len(head), *rest])


def verdicts(found: Iterable[tuple[str, str, bool]]) -> str:
    """Return a table of aims: what was aimed at, what was found, and whether it held."""
    rows = [(aim, value, "held" if held else "missed") for aim, value, held in found]
    return table(("aim", "found", ""), rows)


def laps_ms(actions: Iterable[Callable[[], object]]) -> list[float]:
    """Return the milliseconds that each of the actions takes, one after the other."""
    laps = []
    for action in actions:
        began = time.perf_counter()
        action()
        laps.append(1000 * (time.perf_counter() - began))
    return laps
