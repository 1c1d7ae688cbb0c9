"""Check the words of the model before anyone sees them: links, markup, and the prompt recited."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from chains.message_metadata import LINKS_REMOVED, WITHHELD
from chains.safety.leaks import LeakWatch, SystemPrompt
from chains.safety.links import KnownLinks
from chains.safety.markup_filter import MarkupFilter
from chains.state import Passage


@dataclass
class OutputCheck:
    """Checks one answer, piece by piece.

    Attributes:
        passages: What the model is shown: where links may lead.
        prompt: The system prompt that no answer may recite; None where there is none to keep.
        canary: Random words of this call's prompt; an answer that holds them is withheld.
    """

    passages: Sequence[Passage]
    prompt: SystemPrompt | None = None
    canary: str = ""
    _markup: MarkupFilter = field(init=False)
    _leak: LeakWatch = field(init=False)

    def __post_init__(self) -> None:
        self._markup = MarkupFilter(KnownLinks(self.passages).allow)
        self._leak = LeakWatch(self.prompt, self.canary)

    def feed(self, text: str) -> str:
        """Take the next piece, and return what can be shown."""
        return self._kept(self._markup.feed(text))

    def flush(self) -> str:
        """Return the rest, once the answer has ended."""
        return self._kept(self._markup.flush())

    def findings(self) -> dict[str, Any]:
        """Return what the message's metadata says of the check."""
        found: dict[str, Any] = {LINKS_REMOVED: self._markup.removed} if self._markup.removed else {}
        return found | ({WITHHELD: "leak"} if self._leak.leaked else {})

    def _kept(self, text: str) -> str:
        if self._leak.leaked or self._leak.feed(text):
            return ""
        return text
