"""The driver, psycopg: text that PostgreSQL can keep, an address without its password, errors with what to do."""

import json
import re
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

from sqlalchemy.engine import ExceptionContext

from app.hooks import from_extra
from chains.errors import ConfigurationError, VectorStoreError

_ESCAPED_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")


def keepable(text: str) -> str:
    """Return a text of the same length without the characters that the database refuses."""
    return text.replace("\0", " ").encode(errors="replace").decode()


def as_json(value: Any) -> str:
    """Return a value as JSON whose strings hold no NUL; it would be an escape there, which `jsonb` refuses."""
    return _ESCAPED_NUL.sub(r"\1 ", json.dumps(value, ensure_ascii=False))


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


LOST = "the server ended the connection, or does not answer; what was not committed is undone: run it again"
# By SQLSTATE, the first characters of which name a class.
REMEDIES = {
    "25006": "it only reads (a standby?); point DATABASE_URL at the primary server",
    "28": "check user and password in DATABASE_URL, and the server's pg_hba.conf",
    "3D000": "create the database, or check its name in DATABASE_URL",
    "42501": "let an administrator grant it to the user of DATABASE_URL",
    "42P01": "the index was replaced, or its tables were deleted; ask again, or run `waypoint migrate`",
    "3F000": "run `waypoint migrate`",
    "53300": "raise max_connections of the server, or lower --workers",
    "53": "the server is short of memory or disk; free some",
    "57014": "it took longer than 10 seconds; look at the load of the server",
    "57": LOST,
    "08": LOST,
}
# A refused connection has no SQLSTATE, only words.
WORDS = {
    "too many": REMEDIES["53300"],
    "remaining connection slots": REMEDIES["53300"],
    "password": REMEDIES["28"],
    "authentication": REMEDIES["28"],
    "role ": REMEDIES["28"],
    "does not exist": REMEDIES["3D000"],
    "server closed the connection": LOST,
    "terminating connection": LOST,
}
OTHERWISE = "check that the server runs and that DATABASE_URL leads to it"


def translate(address: Address) -> Callable[[ExceptionContext], None]:
    """Return what raises SQLAlchemy's errors as ours."""

    def raise_ours(failure: ExceptionContext) -> None:
        raise explained(failure.original_exception, address) from failure.original_exception

    return raise_ours


def explained(error: BaseException, address: Address) -> VectorStoreError:
    """Return the error that says what happened at the address, and what to do."""
    reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return VectorStoreError(f"the database {address} failed ({reason}); {remedy_of(error)}")


def remedy_of(error: BaseException) -> str:
    """Say what to do about an error of the driver."""
    state = getattr(error, "sqlstate", None) or ""
    known = (REMEDIES[start] for start in (state, state[:2]) if start in REMEDIES)
    said = (remedy for words, remedy in WORDS.items() if words in str(error))
    return next(known, None) or next(said, OTHERWISE)
