"""Logged answers, in a file and in PostgreSQL."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from app.ledger import open_database
from app.ledger.answers import AnswerStore
from tests.ledger.test_answers import NOW


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, tmp_path) -> Iterator[AnswerStore]:
    url = request.getfixturevalue("database_url") if request.param == "postgresql" else None
    with closing(open_database(tmp_path / "ledger.sqlite3", url, collection="kb")) as database:
        yield AnswerStore(database, days=90, max_mb=1, now=lambda: NOW)
