"""The driver, psycopg, which comes with an extra; and an address that does not show its password."""

from functools import cache
from types import ModuleType
from typing import Any

from app.hooks import from_extra
from app.wings.postgres.characters import keepable
from chains.errors import ConfigurationError


def psycopg() -> ModuleType:
    """Return the driver.

    Raises:
        ConfigurationError: it is not installed.
    """
    with from_extra("postgres", "PostgreSQL"):
        import psycopg  # noqa: PLC0415 - An extra; whoever keeps no index in PostgreSQL does without.
    return psycopg


@cache
def text_dumpers() -> tuple[Any, ...]:
    """Return what hands text to the server, to be registered in this order: the last one is that of statements."""
    from psycopg.types.string import StrBinaryDumper, StrDumperUnknown  # noqa: PLC0415 - as above.

    class InCopies(StrBinaryDumper):
        def dump(self, obj: str) -> Any:
            return super().dump(keepable(obj))

    class InStatements(StrDumperUnknown):
        def dump(self, obj: str) -> Any:
            return super().dump(keepable(obj))

    return InCopies, InStatements


class Address:
    """Where a database is; as text it is host, port and name only.

    Attributes:
        options: what the driver connects with.
    """

    def __init__(self, url: str) -> None:
        driver = psycopg()
        from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415 - as above.

        try:
            self.options: dict[str, Any] = conninfo_to_dict(url)
        except driver.Error:
            msg = "DATABASE_URL is no address of a database; it has to look like postgresql://user:password@host/name"
            raise ConfigurationError(msg) from None  # Its words hold parts of the address.

    def __str__(self) -> str:
        """Return host, port and name."""
        host, port = self.options.get("host", "localhost"), self.options.get("port", "5432")
        return f"{host}:{port}/{self.options.get('dbname', '')}"
