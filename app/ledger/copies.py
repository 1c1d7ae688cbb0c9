"""What was fetched of a remote source: the names, addresses and versions of its copies."""

from collections.abc import Iterable

from sqlalchemy import text

from app.ledger.database import Database

KNOWN = text("SELECT address, name, fingerprint FROM copies WHERE source = :source")
KEEP = text("""
INSERT INTO copies (source, address, name, fingerprint) VALUES (:source, :address, :name, :fingerprint)
ON CONFLICT (source, address) DO UPDATE SET name = excluded.name, fingerprint = excluded.fingerprint
""")
FORGET = text("DELETE FROM copies WHERE source = :source AND address = :address")


class Copies:
    """The copies of one `source`."""

    def __init__(self, database: Database, source: str) -> None:
        self._database, self._source = database, source

    def known(self) -> list[tuple[str, str, str]]:
        """Return the address, the name and the version of each copy."""
        with self._database.reading() as connection:
            return [(row.address, row.name, row.fingerprint) for row in connection.execute(KNOWN, self._of())]

    def keep(self, address: str, name: str, fingerprint: str) -> None:
        """Write down that a copy is of this version."""
        with self._database.changing() as connection:
            connection.execute(KEEP, self._of(address=address, name=name, fingerprint=fingerprint))

    def forget(self, addresses: Iterable[str]) -> None:
        if rows := [self._of(address=address) for address in addresses]:
            with self._database.changing() as connection:
                connection.execute(FORGET, rows)

    def _of(self, **values: str) -> dict[str, str]:
        return {"source": self._source, **values}
