"""What PostgreSQL raises, as this project's errors: what happened, and what to do."""

from collections.abc import Callable

from sqlalchemy.engine import ExceptionContext

from app.wings.postgres.driver import Address
from chains.errors import VectorStoreError

LOST = "the server ended the connection, or does not answer; what was not committed is undone: run it again"
# By SQLSTATE, the first characters of which name a class.
REMEDIES = {
    "25006": "it only reads (a standby?); point DATABASE_URL at the primary server",
    "28": "check user and password in DATABASE_URL, and the server's pg_hba.conf",
    "3D000": "create the database, or check its name in DATABASE_URL",
    "42501": "let an administrator grant it to the user of DATABASE_URL",
    "42P01": "the index was replaced, or its tables were deleted; ask again, or run `waypoint migrate`",
    "3F000": "run `waypoint migrate`",
    "53300": "raise max_connections of the server, or lower DATABASE_POOL_SIZE or --workers",
    "53": "the server is short of memory or disk; free some",
    "57014": "it took longer than VECTOR_STORE_TIMEOUT_S; raise it, or look at the load of the server",
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
