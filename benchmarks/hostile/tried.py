"""What was tried of one kind, and what did not hold."""

from dataclasses import dataclass, field


@dataclass
class Tried:
    """A kind of attack: how many cases there are, and the names of those that did harm."""

    kind: str
    held_means: str
    count: int = 0
    failed: list[str] = field(default_factory=list)

    def add(self, name: str, *, held: bool) -> None:
        """Count a case."""
        self.count += 1
        if not held:
            self.failed.append(name)

    def row(self) -> list[str]:
        """Return the cells of the table in docs/security.md."""
        return [self.kind, str(self.count), str(self.count - len(self.failed)), self.held_means]
