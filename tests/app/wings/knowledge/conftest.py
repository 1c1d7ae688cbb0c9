"""Where logged answers are kept: a file, and PostgreSQL."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from app.ports import AnswerDatabase
from app.wings.knowledge.answer_file import AnswerFile
from app.wings.knowledge.answers import AnswerStore
from app.wings.postgres.answers import PostgresAnswers
from app.wings.postgres.database import Database

NOW = 1_800_000_000.0


@pytest.fixture(params=["file", "postgres"])
def database(request, tmp_path) -> Iterator[AnswerDatabase]:
    if request.param == "file":
        opened: AnswerDatabase = AnswerFile(tmp_path / "answers")
    else:
        url = request.getfixturevalue("database_url")
        opened = PostgresAnswers(Database(url, pool_size=2, timeout_s=10))
    with closing(opened):
        yield opened


@pytest.fixture
def store(database, collection) -> AnswerStore:
    return AnswerStore(database, collection=collection, days=90, max_mb=1, now=lambda: NOW)
