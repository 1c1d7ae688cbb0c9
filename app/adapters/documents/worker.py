"""The process that reads hostile files; `process.py` starts it."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from app import hooks
from app.adapters.documents.process import run
from chains.errors import ConfigurationError, IngestionError
from chains.ingestion import text_files
from chains.ingestion.chunks import Chunker
from chains.ingestion.parsing import parse_file
from chains.ingestion.source import Loader, SourceText


def _loader(name: str) -> Loader:
    """Return a plugged-in reader; where its package is not installed, one that says so of each file."""
    try:
        loader: Loader = hooks.load("readers", name)
    except ConfigurationError as error:
        reason = str(error)

        def refuse(_path: Path) -> SourceText:
            raise IngestionError(reason)

        return refuse
    return loader


# Imported before the first file, whose time is limited.
LOADERS: dict[str, Loader] = {**text_files.LOADERS, **{f".{name}": _loader(name) for name in hooks.names("readers")}}


def _loaders(task: dict[str, Any]) -> dict[str, Loader]:
    """Return the loaders; scanned pages of PDF files are read where the task names a program for that."""
    if not task.get("recognition"):
        return LOADERS
    try:
        recognition = hooks.wing("office.ocr:Tesseract")(**task["recognition"])
    except ConfigurationError:  # It is left out of this installation.
        return LOADERS
    load_pdf = hooks.load("readers", "pdf")
    return {**LOADERS, ".pdf": partial(load_pdf, recognition=recognition)}


def answer(task: dict[str, Any]) -> dict[str, Any]:
    """Parse the file of a task; return what JSON can carry."""
    try:
        parsed = parse_file(Path(task["path"]), _loaders(task), Chunker(**task["chunker"]))
    except IngestionError as error:
        return {"problem": str(error)}
    except MemoryError:
        return {"problem": "the file takes more memory than a file may; split it"}
    return asdict(parsed)


if __name__ == "__main__":
    run(answer)
