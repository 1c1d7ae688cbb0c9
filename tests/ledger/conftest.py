from collections.abc import Iterator
from pathlib import Path

import pytest

from app.ledger import open_database
from app.ledger.database import Database


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
    """Return the address of an empty database; None for a file."""
    return request.getfixturevalue("database_url") if request.param == "postgresql" else None


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "storage" / "kb.ledger.sqlite3"


@pytest.fixture
def database(address: str | None, file: Path) -> Iterator[Database]:
    opened = open_database(file, address, collection="kb")
    yield opened
    opened.close()
