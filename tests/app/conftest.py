"""Files as readers get them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from app.adapters.documents.worker import LOADERS
from chains.ingestion.source import SourceText


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str, str | bytes], SourceText]:
    """Write a file, and read it by the loader of its ending."""

    def load(name: str, content: str | bytes) -> SourceText:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return LOADERS[path.suffix](path)

    return load
