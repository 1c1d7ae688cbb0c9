"""Documents that say in unusual forms that they are internal, and folders that do so by their names."""

from pathlib import Path

from app.adapters.documents.worker import LOADERS
from benchmarks.hostile.tried import Tried
from chains.audience import audience_of
from chains.errors import IngestionError
from chains.ingestion.chunks import Chunker
from chains.ingestion.parsing import parse_file
from tests.stated_audiences import BODY, FOLDERS, MARKDOWN, OTHERS, WORDS

HELD = "internal, or not read at all"


def attack(folder: Path) -> list[Tried]:
    """Read each form in each format that has it, and each name of a folder."""
    tried = Tried("stated audiences", HELD)
    for name, head in MARKDOWN.items():
        for ending, body in ((".md", BODY), (".txt", WORDS)):
            tried.add(f"{name}, {ending}", held=_is_internal(folder / f"line{ending}", f"{head}{body}".encode()))
    for name, (file, content) in OTHERS.items():
        raw = content if isinstance(content, bytes) else content.encode()
        tried.add(name, held=_is_internal(folder / file, raw))
    for name in FOLDERS:
        path = f"01_regulatory/{name}/asia/line.md"
        tried.add(path, held=audience_of({"file_path": path}, unstated="public") == "internal")
    return [tried]


def _is_internal(path: Path, content: bytes) -> bool:
    path.write_bytes(content)
    try:
        metadata = parse_file(path, LOADERS, Chunker()).metadata
    except IngestionError:
        return True
    return audience_of(metadata, unstated="public") == "internal"
