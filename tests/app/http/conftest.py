"""An index of two documents and a Groq on loopback, for all tests of access."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.access import write_corpus
from tests.fakes import FakeGroq, fake_groq


@pytest.fixture(scope="package")
def corpus(tmp_path_factory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("access"))


@pytest.fixture(scope="module")
def groq() -> Iterator[FakeGroq]:
    with fake_groq() as server:
        yield server


@pytest.fixture(autouse=True)
def _forget(groq) -> None:
    groq.requests.clear()
    groq.replies.clear()
