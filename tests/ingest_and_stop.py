"""Ingestions for a process of their own: as a command, or with vectors that need no model, to hang until killed."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.adapters import chroma
from app.cli import main
from app.ledger import index
from app.ledger.database import Database
from app.ledger.index import PassageIndex
from app.ledger.vectors import Vectors
from app.settings import load_settings
from app.wiring import Parts, Service, open_service
from chains.ingestion import index as writing
from chains.ingestion.index import Report
from tests.fakes import WordEmbeddings
from tests.processes import start

# The steps that change something, and whether to hang after them or before: what a kill can leave half done.
POINTS: dict[str, tuple[Any, str, bool]] = {
    "embedding": (WordEmbeddings, "embed_documents", False),
    "staged": (PassageIndex, "stage", True),
    "cleared": (index, "clear", True),
    "deleted": (index, "delete_words", True),
    "added": (index, "add_words", True),
    "vectors indexed": (index, "index_vectors", True),
    "sources written": (PassageIndex, "_write_sources", True),
    "version stated": (Database, "state", True),
    "committed": (PassageIndex, "follow", False),
    "follower copied": (chroma, "_align", False),
    "follower aligned": (chroma, "_align", True),
    "followed": (Vectors, "fill", True),
}


def make_services(folder: Path, **settings: Any) -> Service:
    chosen = load_settings(_env_file=None, **({"chroma_path": folder / "store"} | settings))
    return open_service(chosen, parts=Parts(embeddings=WordEmbeddings()))


def ingest(folder: Path, corpus: Path, *, reset: bool = False, **settings: Any) -> Report:
    return make_services(folder, **settings).index.ingest([corpus], reset=reset)


def ingest_and_stop(folder: Path, corpus: Path, *, reset: bool, point: str, times: int, **settings: Any) -> None:
    """Ingest in small batches; at the given call, write the file `stopped` into the folder and wait."""
    writing.CHUNKS_A_BATCH = 8
    owner, name, after = POINTS[point]
    setattr(owner, name, _hanging(getattr(owner, name), folder / "stopped", after=after, times=times))
    ingest(folder, corpus, reset=reset, **settings)


def waypoint(folder: Path, messages: Path, *words: str, **settings: str) -> None:
    """Run the command in the folder, with these settings; what it prints goes to the file of messages."""
    with messages.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(folder)
    for name, value in settings.items():
        pytest.MonkeyPatch().setenv(name, value)
    sys.argv = ["waypoint", *words]
    main()


def waypoint_ingest(folder: Path, *words: str, **settings: str) -> None:
    """Run `waypoint ingest` in the folder, in a process of its own."""
    messages = folder / "ingestion.txt"
    process = start(waypoint, folder, messages, "ingest", *words, **settings)
    process.join()
    assert process.exitcode == 0, messages.read_text()


def _hanging(original: Callable[..., Any], told: Path, *, after: bool, times: int) -> Callable[..., Any]:
    calls = 0

    def hanging(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        result = original(*arguments, **options) if after or calls < times else None
        if calls == times:
            told.touch()
            time.sleep(600)
        return result

    return hanging


def upload_and_stop(folder: Path, name: str, *, point: str) -> None:
    """Add a file over HTTP's way; at the given call, write the file `stopped` into the folder and wait."""
    owner, method, after = POINTS[point]
    setattr(owner, method, _hanging(getattr(owner, method), folder / "stopped", after=after, times=1))
    with (folder / name).open("rb") as file:
        make_services(folder).uploads.accept([(name, file)], "")
    time.sleep(600)
