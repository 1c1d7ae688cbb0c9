"""What was tried of one kind and did not hold, and the service that it is tried on."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from app.settings import load_settings
from app.wiring import Service as WiredService
from app.wiring import open_service
from benchmarks.processes import Service, service

QUESTION = "What is the surcharge on weekends?"
# A document for everybody and one for the staff, by where they lie.
DOCUMENTS = {
    "01_regulatory/rate.md": "# Guide\n\n## Rate\n\nThe surcharge on weekends is 5 %.\n",
    "04_internal_synthetic/rate.md": "# Guide\n\n## Rate\n\nThe surcharge on weekends is 7 %, in confidence.\n",
}
OPTIONS = {"LLM_PROVIDER": "offline", "SCOPE_FILE": "off", "LOG_LEVEL": "error", "RATE_LIMIT": "off"}


class Tried:
    """A kind of attack: how many cases there are, and the names of those that did harm."""

    def __init__(self, kind: str, held_means: str, cases: Iterable[tuple[str, bool]]) -> None:
        """Try the cases: each is a name, and whether it held."""
        tried = list(cases)
        self.kind, self.held_means, self.count = kind, held_means, len(tried)
        self.failed = [name for name, held in tried if not held]

    def row(self) -> list[str]:
        return [self.kind, str(self.count), str(self.count - len(self.failed)), self.held_means]


def index(folder: Path, documents: Mapping[str, str] = DOCUMENTS, **settings: Any) -> WiredService:
    """Write the documents below the folder and index them there; return the services of the staff."""
    corpus = folder / "corpus"
    for name, text in documents.items():
        path = corpus / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    chosen: dict[str, Any] = {"chroma_path": folder / "store", "llm_provider": "offline", "scope_file": "off"}
    services = open_service(load_settings(_env_file=None, relevance_threshold=0, min_chunks=0, **chosen | settings))
    services.index.ingest([corpus])
    return services


def alone(folder: Path, **options: str) -> AbstractContextManager[Service]:
    """Run one process over the index in the folder while the body runs; `options` are settings."""
    return service(folder, **{**OPTIONS, "CHROMA_PATH": str(folder / "store"), "RELEVANCE_THRESHOLD": "0", **options})
