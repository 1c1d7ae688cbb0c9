"""A stranger tests which words stand in internal documents, by what they change in answers from public ones."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx

from app.wiring import Services
from benchmarks.hostile.alone import alone
from benchmarks.hostile.tried import Tried
from tests.access import settings_over
from tests.strangers import Attacked, probes, write_corpus

ROUTES: dict[str, Callable[[str], dict[str, Any]]] = {
    "/api/query": lambda question: {"query": question},
    "/search": lambda question: {"query": question, "top_k": 20},
    "/copilot/stream": lambda question: {"input": {"question": question}},
}


def attack(folder: Path) -> list[Tried]:
    """Ask a service over public documents alone and one over the same and internal ones the same questions."""
    tried = Tried("words of internal documents", "the same answer, order and scores as without these documents")
    with ExitStack() as stack:
        alike = [_asked(stack, folder / name, internal=name == "both") for name in ("public", "both")]
        for path, body in ROUTES.items():
            for _, question in probes():
                tried.add(f"{path}: {question}", held=_is_same(alike, path, body(question)))
    return [tried]


def _is_same(alike: list[Attacked], path: str, body: dict[str, Any]) -> bool:
    first, second = (one.asked(path, body) for one in alike)
    return bool(first == second)


def _asked(stack: ExitStack, folder: Path, *, internal: bool) -> Attacked:
    folder.mkdir()
    corpus = write_corpus(folder, internal=internal)
    Services(settings_over(folder, "http://127.0.0.1:1", llm_provider="offline", llm_api_key=None)).ingest([corpus])
    running = stack.enter_context(alone(folder, ALLOW_ANONYMOUS="true"))
    return Attacked(stack.enter_context(httpx.Client(base_url=running.url, timeout=60)))
