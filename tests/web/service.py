"""The service on loopback over the indexed corpus, answering through the real client of a scripted model."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from app.http.server import create_app
from app.settings import Settings, load_settings
from app.wiring import llm, open_service
from app.wiring.storage import sample_corpus
from tests.served import served
from tests.web.model import ScriptedModel


def settings_over(store: Path, model_url: str, **overrides: Any) -> Settings:
    chosen: dict[str, Any] = {
        "chroma_path": store,
        "llm_api_key": "gsk_test",
        "llm_base_url": model_url,
        "llm_max_retries": 0,
        "page_path": sample_corpus(),  # The index holds other documents too.
    }
    return load_settings(_env_file=None, **chosen | overrides)


@contextmanager
def serving(store: Path, model: ScriptedModel, **overrides: Any) -> Iterator[str]:
    """Run the service while the body runs; yield its address."""
    services = open_service(settings_over(store, model.url, **overrides))
    # One test's faults are no reason to refuse the next one's questions.
    with patch.object(llm, "BREAKER_FAILURES", 1000), served(create_app(services)) as url:
        yield url
