"""The seams for which LangChain has no base class, as Protocols."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Progress(Protocol):
    """Is told how far a long piece of work has come."""

    def __call__(self, done: int, total: int, label: str, /) -> None:
        """Report `done` of `total` units; `label` names the one just finished."""


class WordSimilarity(Protocol):
    """Tells how near words are in meaning."""

    def __call__(self, first: Sequence[str], second: Sequence[str], /) -> NDArray[np.float32]:
        """Return the cosines of the words, folded to lower case, shape (len(first), len(second))."""
