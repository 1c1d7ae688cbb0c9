"""Compute cosine similarities, the one scale of all scores."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def cosines(rows: NDArray[np.float32], vector: Sequence[float]) -> NDArray[np.float32]:
    """Return the cosine of `vector` to each row, clipped to 0-1; that of a row of zeros is 0."""
    if not len(rows):
        return np.zeros(0, dtype=np.float32)
    asked = np.asarray(vector, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(asked)
    similarities: NDArray[np.float32] = np.clip(rows @ asked / np.where(lengths == 0, 1, lengths), 0.0, 1.0)
    return similarities
