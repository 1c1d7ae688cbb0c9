"""Fixtures that more than one test module uses."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.settings import Settings
from tests.fakes import FakeGroq, fake_groq

SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the machine's environment and any `.env` out of the tests."""
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def groq() -> Iterator[FakeGroq]:
    """A Groq server on loopback."""
    with fake_groq() as server:
        yield server


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared corpora and evaluation data, beside the project where it is present."""
    if not SHARED.is_dir():
        pytest.skip("the shared corpora are not beside this checkout")
    return SHARED
