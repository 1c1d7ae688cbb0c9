"""Keep how often the steps beside answers and ingestions failed, for `waypoint doctor`."""

import json
import time
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

from app.adapters.private_files import write_atomically
from chains.errors import WaypointError

DAYS = 7  # Older faults are no longer shown.


class FaultFile:
    """A file with the number of faults of each step, and the time and the reason of the last one."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lock = Lock()

    def keep(self, step: str, reason: str) -> None:
        """Count a fault; where the file cannot be written, it is only logged."""
        with self._lock, suppress(OSError):
            known = self._recent()
            number = known.get(step, {}).get("number", 0) + 1
            known[step] = {"number": number, "at": time.time(), "reason": reason}
            write_atomically(self.file, json.dumps(known))

    def status(self) -> str:
        """Return that no step has failed lately.

        Raises:
            WaypointError: one has; the message says which, how often, and why.
        """
        if known := self._recent():
            raise WaypointError(
                "; ".join(f"{step} failed {one['number']} times: {one['reason']}" for step, one in known.items())
            )
        return f"none failed in {DAYS} days"

    def _recent(self) -> dict[str, Any]:
        try:
            known: dict[str, Any] = json.loads(self.file.read_text(encoding="utf-8"))
            return {step: one for step, one in known.items() if one["at"] > time.time() - DAYS * 86_400}
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return {}
