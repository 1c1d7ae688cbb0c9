"""Run the steps beside an answer or an ingestion: a fault in one is logged and counted, and takes nothing along."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb
from typing import Final

from chains.errors import WaypointError
from chains.logs import get_logger

log = get_logger(__name__)

counts: Final = Counter[str]()
"""How often each step has failed in this process."""

_keepers: Final = list[Callable[[str, str], None]]()


def keep_faults(keep: Callable[[str, str], None]) -> None:
    """Call `keep` with the step and the reason of each fault of this process from now on."""
    _keepers[:] = [keep]


@contextmanager
def side_step(step: str) -> Iterator[None]:
    """Run the body; if it fails, log and count that, and go on behind it."""
    try:
        yield
    except Exception as error:  # What looks beside an answer must not take the answer along.
        log.warning("side_step_failed", step=step, reason=count_fault(step, error))


def count_fault(step: str, error: Exception) -> str:
    """Count a fault of a step that its caller logs, and return its reason without words of documents."""
    counts[step] += 1
    places = extract_tb(error.__traceback__)[-1:]
    where = "".join(f" at {Path(place.filename).name}:{place.lineno}" for place in places)
    reason = str(error) if isinstance(error, WaypointError) else f"{type(error).__name__}{where}"
    for keep in _keepers:
        keep(step, reason)
    return reason
