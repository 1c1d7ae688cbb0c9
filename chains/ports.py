"""The seams for which LangChain has no base class, as Protocols."""

from collections.abc import Sequence
from typing import Protocol


class Progress(Protocol):
    """Is told how far a long piece of work has come."""

    def __call__(self, done: int, total: int, label: str, /) -> None:
        """Report `done` of `total` units; `label` names the one just finished."""


class Tokenizer(Protocol):
    """Counts tokens the way a model does."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text."""
