"""The embedding model of a whole run: each process opens it once, and what one computed of a batch serves all."""

import functools
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

import numpy as np
import pytest
from numpy.typing import NDArray

from app.adapters.embeddings import onnx
from app.adapters.embeddings.onnx import find_weights


class RememberingModel(onnx._Model):
    """The embedding model; the vectors of a batch of texts are kept in a folder, those of one text in this process."""

    folder: ClassVar[Path]

    def run(self, rows: Sequence[Sequence[int]]) -> list[list[float]]:
        found: list[list[float]] = self._kept(tuple(map(tuple, rows))).tolist()
        return found

    @functools.lru_cache(2048)  # noqa: B019 - There is one for the whole run.
    def _kept(self, rows: tuple[tuple[int, ...], ...]) -> NDArray[np.float32]:
        if len(rows) == 1:
            return self._computed(rows)
        file = self.folder / hashlib.sha256(json.dumps(rows).encode()).hexdigest()
        if not file.exists():
            made = file.with_suffix(f".{uuid4().hex}.npy")
            np.save(made, self._computed(rows))
            made.rename(file)
        with file.open("rb") as vectors:
            kept: NDArray[np.float32] = np.load(vectors)
        return kept

    def _computed(self, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        return np.array(super().run(rows), dtype=np.float32)


def remember(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Open the installed embedding model once for this process: each opening takes half a second and 100 MB.

    No process computes what the folder has: many modules index the sample corpus, which takes seconds each time.
    """
    folder.mkdir(exist_ok=True)
    RememberingModel.folder = folder
    open_model, usual = onnx._open_model, find_weights()

    @functools.cache
    def installed(weights: Path) -> Any:
        model = open_model(weights)
        return RememberingModel(model.tokenizer, model.session)

    def opened(weights: Path) -> Any:
        return (installed if weights == usual else open_model)(weights)

    patch.setattr(onnx, "_open_model", opened)
