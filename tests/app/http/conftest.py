"""An index of two documents and a Groq on loopback, for all tests of access."""

from pathlib import Path

import pytest

from tests.access import write_corpus
from tests.fakes import groq_server


@pytest.fixture(scope="package")
def corpus(tmp_path_factory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("access"))


groq = pytest.fixture(groq_server, scope="module")


@pytest.fixture(autouse=True)
def _forget(groq) -> None:
    groq.requests.clear()
    groq.replies.clear()
