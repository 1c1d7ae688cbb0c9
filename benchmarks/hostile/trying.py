"""What was tried of one kind and did not hold, and the index that it is tried on."""

from collections.abc import Iterable
from pathlib import Path

from benchmarks.offline import offline

QUESTION = "What is the surcharge on weekends?"


class Tried:
    """A kind of attack: how many cases there are, and the names of those that did harm."""

    def __init__(self, kind: str, held_means: str, cases: Iterable[tuple[str, bool]]) -> None:
        """Try the cases: each is a name, and whether it held."""
        tried = list(cases)
        self.kind, self.held_means, self.count = kind, held_means, len(tried)
        self.failed = [name for name, held in tried if not held]

    def row(self) -> list[str]:
        return [self.kind, str(self.count), str(self.count - len(self.failed)), self.held_means]


def index(folder: Path) -> None:
    """Write a document below the folder, and index it in `store`."""
    file = folder / "corpus" / "rate.md"
    file.parent.mkdir()
    file.write_text("# Guide\n\n## Rate\n\nThe surcharge on weekends is 5 %.\n", encoding="utf-8")
    offline(folder, file)
