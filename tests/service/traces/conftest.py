"""A service over a small index that traces to a backend on loopback."""

from collections.abc import Iterator

import pytest

from app.settings import Settings, load_settings
from app.wiring import Service, open_index
from tests.fakes import Reply, groq_server
from tests.langsmith_stub import Backend, backend
from tests.traced import WORDS, tracing

DOCUMENT = "# GST Guide\n\n## Rate\n\nThe rate of GST on imports into Singapore is 9 %."


groq = pytest.fixture(groq_server, scope="module")


@pytest.fixture(scope="module")
def desk(groq, tmp_path_factory) -> Settings:
    """The settings of a service over a small index."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "corpus" / "01_regulatory").mkdir(parents=True)
    (folder / "corpus" / "01_regulatory" / "gst.md").write_text(DOCUMENT)
    settings = load_settings(
        _env_file=None,
        chroma_path=folder / "store",
        llm_api_key="gsk_verysecret",
        llm_base_url=groq.url,
        llm_max_retries=0,
        llm_fallback=False,
    )
    open_index(settings).ingest([folder / "corpus"])
    return settings


@pytest.fixture
def stub(groq) -> Iterator[Backend]:
    groq.replies[:] = [Reply(WORDS)]
    with backend() as server:
        yield server


@pytest.fixture
def services(desk, stub) -> Iterator[Service]:
    """Service that trace to the stub."""
    with tracing(desk, stub.url) as services:
        yield services
