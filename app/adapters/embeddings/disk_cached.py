"""Embeddings and a folder -> the same embeddings, which keep the vectors of a batch of texts in a file there."""

import hashlib
import os
import tempfile
from pathlib import Path

import numpy as np
import platformdirs
from langchain_core.embeddings import Embeddings


class RememberedEmbeddings(Embeddings):
    """For texts that are the same at every start: a batch that was embedded before is read from its file.

    A file that is missing, broken or cannot be written costs the time to embed, and nothing else.

    Args:
        embeddings: what embeds a batch that is not remembered, and every query.
        model: the model's name, which is a part of the file's key.
        folder: where the files are; None is the user's cache folder.
    """

    def __init__(self, embeddings: Embeddings, *, model: str, folder: Path | None = None) -> None:
        self._embeddings = embeddings
        self._model = model
        self._folder = folder or platformdirs.user_cache_path("waypoint-copilot")

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of the texts, in their order."""
        file = self._file(texts)
        vectors = _read(file)
        if vectors is None or len(vectors) != len(texts):
            vectors = self._embeddings.embed_documents(texts)
            _write(file, vectors)
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Return the text's vector; queries are not remembered."""
        return self._embeddings.embed_query(text)

    async def aembed_query(self, text: str) -> list[float]:
        """Return the same without blocking the event loop."""
        return await self._embeddings.aembed_query(text)

    def _file(self, texts: list[str]) -> Path:
        key = hashlib.sha256("\0".join([self._model, *texts]).encode()).hexdigest()
        return self._folder / f"vectors-{key[:24]}.npy"


def _read(file: Path) -> list[list[float]] | None:
    try:
        vectors: list[list[float]] = np.load(file, allow_pickle=False).tolist()
    except (OSError, ValueError, EOFError):
        return None
    return vectors


def _write(file: Path, vectors: list[list[float]]) -> None:
    """Write the vectors whole or not at all: a second process may be reading."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as draft:
            np.save(draft, np.asarray(vectors, dtype=np.float32))
        os.replace(draft.name, file)
    except OSError:
        return
