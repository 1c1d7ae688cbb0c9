"""What most measurements begin with: the project's questions, and services that answer offline."""

import json
from pathlib import Path
from typing import Any

from app.settings import load_settings
from app.wiring import Service, open_service, sample_corpus
from benchmarks.figures import ROOT

QUESTIONS = ROOT / "evals" / "questions.jsonl"


def questions(kind: str = "") -> list[str]:
    """Return the project's own questions, or those of one kind."""
    rows = map(json.loads, QUESTIONS.read_text(encoding="utf-8").splitlines())
    return [row["question"] for row in rows if kind in {"", row["kind"]}]


def offline(folder: Path, *documents: Path, **settings: Any) -> Service:
    """Return services that answer offline from these documents, by default the sample corpus; the index is in `folder`.

    Nothing of the environment counts, and no answer is logged.
    """
    chosen = {"chroma_path": folder / "store", "llm_provider": "offline", "min_chunks": 0} | settings
    services = open_service(load_settings(_env_file=None, **chosen), serving=False)
    services.index.ingest(documents or [sample_corpus()])
    return services
