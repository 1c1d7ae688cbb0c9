"""Cached values in the ledger, shared by all processes of a service."""

import time
from collections.abc import Callable

from sqlalchemy import text

from app.ledger.database import Database
from chains.caching.typed_cache import StoreError
from chains.errors import WaypointError

MOST_BYTES = 256 * 2**20
TRIM_EVERY = 100  # Values that a process keeps before it looks for expired ones.

GET = text("SELECT value FROM cache WHERE name = :name AND expires > :now")
SET = text("""
INSERT INTO cache (name, expires, value) VALUES (:name, :expires, :value)
ON CONFLICT (name) DO UPDATE SET expires = excluded.expires, value = excluded.value
""")
EXPIRE = text("DELETE FROM cache WHERE expires <= :now")
SHRINK = text("""
DELETE FROM cache WHERE name IN (SELECT name FROM
    (SELECT name, sum(length(value)) OVER (ORDER BY expires DESC, name) AS total FROM cache) AS sized
    WHERE total > :most)
""")


class LedgerCache:
    """Keeps bytes for `ttl_s` seconds; beyond `most_bytes` the ones that end first go."""

    is_quick = False

    def __init__(
        self,
        database: Database,
        *,
        ttl_s: float,
        most_bytes: int = MOST_BYTES,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._database, self._ttl_s, self._most_bytes, self._now = database, ttl_s, most_bytes, now
        self._until_trim = 0

    def get(self, name: str) -> bytes | None:
        """Return the value; None if it is missing or expired."""
        try:
            with self._database.reading() as connection:
                value = connection.execute(GET, {"name": name, "now": self._now()}).scalar()
        except WaypointError as error:
            raise StoreError(str(error)) from error
        return None if value is None else bytes(value)

    def set(self, name: str, data: bytes, *, ttl_s: float | None = None) -> None:
        """Keep the value."""
        now = self._now()
        try:
            with self._database.changing() as connection:
                connection.execute(SET, {"name": name, "expires": now + (ttl_s or self._ttl_s), "value": data})
                self._until_trim -= 1
                if self._until_trim < 0:
                    self._until_trim = TRIM_EVERY
                    connection.execute(EXPIRE, {"now": now})
                    connection.execute(SHRINK, {"most": self._most_bytes})
        except WaypointError as error:
            raise StoreError(str(error)) from error
