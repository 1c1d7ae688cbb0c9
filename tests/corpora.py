"""Documents of tests, as files in folders."""

from collections.abc import Mapping
from pathlib import Path


def write_documents(folder: Path, documents: Mapping[str, str | bytes]) -> Path:
    """Write documents by their paths below a folder, and return the folder."""
    for name, content in documents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder
