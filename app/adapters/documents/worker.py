"""The process that reads hostile files; `isolation.py` starts it."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from app.adapters.documents import limits
from app.adapters.documents.book import load_epub
from app.adapters.documents.docx import load_docx
from app.adapters.documents.html import load_html
from app.adapters.documents.json_lines import load_json_lines
from app.adapters.documents.mail import load_eml
from app.adapters.documents.ocr import TextRecognition
from app.adapters.documents.pdf import load_pdf
from app.adapters.documents.slides import load_pptx
from app.adapters.documents.spreadsheet import load_csv, load_xlsx
from chains.errors import IngestionError
from chains.ingestion import text_files
from chains.ingestion.chunks import Chunker
from chains.ingestion.parsing import parse_file
from chains.ingestion.source import Loader

LOADERS: dict[str, Loader] = {
    **text_files.LOADERS,
    **dict.fromkeys((".htm", ".html", ".xhtml"), load_html),
    **dict.fromkeys((".csv", ".tsv"), load_csv),
    **dict.fromkeys((".jsonl", ".ndjson"), load_json_lines),
    **dict.fromkeys((".xlsm", ".xlsx"), load_xlsx),
    ".docx": load_docx,
    ".eml": load_eml,
    ".epub": load_epub,
    ".pdf": load_pdf,
    ".pptx": load_pptx,
}


def _loaders(task: dict[str, Any]) -> dict[str, Loader]:
    """Return the loaders; scanned pages of PDF files are read where the task names a program for that."""
    if not task.get("recognition"):
        return LOADERS
    recognition = TextRecognition(**task["recognition"])
    return {**LOADERS, ".pdf": partial(load_pdf, recognition=recognition)}


def answer(task: dict[str, Any]) -> dict[str, Any]:
    """Parse the file of a task; return what JSON can carry."""
    try:
        parsed = parse_file(Path(task["path"]), _loaders(task), Chunker(**task["chunker"]))
    except IngestionError as error:
        return {"problem": str(error)}
    except MemoryError:
        return {"problem": "the file takes more memory than INGEST_FILE_MEMORY_MB allows; split it, or raise that"}
    return {**asdict(parsed), "chunks": [asdict(chunk) for chunk in parsed.chunks]}


if __name__ == "__main__":
    limits.run(answer)
