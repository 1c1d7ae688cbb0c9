"""The tables of logged answers in PostgreSQL, which all hosts share."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, CursorResult, text

from app.ports import AnswerLogError, Execute
from app.wings.postgres.database import Database
from app.wings.postgres.schema import SCHEMA, check_schema
from chains.errors import ConfigurationError, VectorStoreError

# Changes are made one after the other: else quotes that nothing rests on may be deleted while an answer comes to.
ALONE = "SELECT pg_advisory_xact_lock(hashtext('waypoint.answers'))"
NAMES = f"SET LOCAL search_path TO {SCHEMA}, public"


class PostgresAnswers:
    """The tables `answers`, `quotes`, `answer_quotes` and `answer_key`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._is_checked = False

    @property
    def place(self) -> str:
        """Return where the answers are."""
        return f"postgres at {self._database.address}"

    @contextmanager
    def transaction(self) -> Iterator[Execute]:
        """Give what executes statements; all of the body's are kept, or none.

        Raises:
            AnswerLogError: the database does not answer, or refuses.
        """
        try:
            if not self._is_checked:
                check_schema(self._database)
                self._is_checked = True
            with self._database.transaction() as connection:
                connection.execute(text(NAMES))
                connection.execute(text(ALONE))
                yield _executed_by(connection)
        except (VectorStoreError, ConfigurationError) as error:
            raise AnswerLogError(str(error)) from error

    def scrub(self) -> None:
        """Do nothing: the server reuses what was deleted, and its log of changes is its administrator's."""

    def close(self) -> None:
        """Close the connections."""
        self._database.close()


def _executed_by(connection: Connection) -> Execute:
    def execute(statement: str, values: Mapping[str, Any]) -> CursorResult[Any]:
        return connection.execute(text(statement), dict(values))

    return execute
