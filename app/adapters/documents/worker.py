"""The process that reads hostile files; `process.py` starts it."""

from contextlib import suppress
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


def answer(task: dict[str, Any]) -> dict[str, Any]:
    """Parse the file of a task; return what JSON can carry.

    Scanned pages of PDF files are read where the task names a program for that, and what calls it is installed.
    """
    loaders = dict(LOADERS)
    if task.get("recognition"):
        with suppress(ConfigurationError):
            recognition = hooks.wing("office.ocr:Tesseract")(**task["recognition"])
            loaders[".pdf"] = partial(hooks.load("readers", "pdf"), recognition=recognition.lines)
    try:
        parsed = parse_file(Path(task["path"]), loaders, Chunker(**task["chunker"]))
    except IngestionError as error:
        return {"problem": str(error)}
    except MemoryError:
        return {"problem": "the file takes more memory than a file may; split it"}
    return asdict(parsed)


if __name__ == "__main__":
    run(answer)
