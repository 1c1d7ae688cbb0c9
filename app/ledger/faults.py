"""How often the steps beside answers and ingestions failed, for `waypoint doctor`."""

import time
from contextlib import suppress

from sqlalchemy import text

from app.ledger.database import Database
from chains.errors import WaypointError

DAYS = 7  # Older faults are no longer shown.

KEEP = text("""
INSERT INTO faults (step, number, at, reason) VALUES (:step, 1, :now, :reason) ON CONFLICT (step) DO UPDATE SET
    number = CASE WHEN faults.at < :since THEN 1 ELSE faults.number + 1 END, at = :now, reason = :reason
""")
RECENT = text("SELECT step, number, reason FROM faults WHERE at >= :since ORDER BY step")


class Faults:
    """The number of faults of each step, and the time and the reason of the last one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, step: str, reason: str) -> None:
        """Count a fault; where the ledger cannot be written, it is only logged."""
        with suppress(WaypointError), self._database.changing() as connection:
            connection.execute(KEEP, {"step": step, "reason": reason, "now": time.time(), "since": _since()})

    def status(self) -> str:
        """Return that no step has failed lately.

        Raises:
            WaypointError: one has; the message says which, how often, and why.
        """
        with self._database.reading() as connection:
            faults = connection.execute(RECENT, {"since": _since()}).all()
        if faults:
            raise WaypointError("; ".join(f"{step} failed {number} times: {reason}" for step, number, reason in faults))
        return f"none failed in {DAYS} days"

    def forget(self) -> None:
        with self._database.changing() as connection:
            connection.execute(text("DELETE FROM faults"))


def _since() -> float:
    return time.time() - DAYS * 86_400
