"""Drop passages that look like an attack."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock

from cachetools import LRUCache, cached

from chains.blocking import is_blocked
from chains.state import Passage, Retrieved

SUSPICIOUS = "suspicious"
"""In a chunk's metadata, where the ingestion found that its document tries to steer the model there."""

IsSuspicious = Callable[[str], bool]


@dataclass(frozen=True)
class Screen:
    """Selects the passages of a state that do not look like an attack.

    Args:
        is_suspicious: returns whether a text looks like an attack; None finds none.
    """

    is_suspicious: IsSuspicious | None

    def kept(self, state: Retrieved) -> list[Passage]:
        """Return the passages that may go on: none for a question that is blocked."""
        return self._allowed(state, state["documents"])

    def nearest_kept(self, state: Retrieved) -> list[Passage]:
        """Return the same of the passages below the threshold."""
        return self._allowed(state, state.get("nearest", []))

    def count_dropped(self, state: Retrieved) -> int:
        """Return how many passages look like an attack."""
        return sum(self._is_dropped(passage) for passage in state["documents"])

    def _allowed(self, state: Retrieved, passages: Sequence[Passage]) -> list[Passage]:
        return [] if is_blocked(state) else [one for one in passages if not self._is_dropped(one)]

    def _is_dropped(self, passage: Passage) -> bool:
        if self.is_suspicious is None:
            return False
        metadata = passage["metadata"]
        named = [str(metadata.get(name) or "") for name in ("title", "section")]
        return bool(metadata.get(SUSPICIOUS)) or self.is_suspicious("\n".join([*named, passage["content"]]))


def remembered(is_suspicious: IsSuspicious, *, most: int = 10_000) -> IsSuspicious:
    """Return the same function, which looks at each of the last `most` texts once: many questions find a passage."""
    verdicts: LRUCache[bytes, bool] = LRUCache(most)
    return cached(verdicts, key=_digest, lock=Lock())(is_suspicious)


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def suspicious_chunks(texts: Sequence[str], is_suspicious: IsSuspicious) -> set[int]:
    """Return the places of the chunks of a document that look like an attack, alone or with the one behind them."""
    alone = {place for place, text in enumerate(texts) if is_suspicious(text)}
    pairs = [place for place in range(len(texts) - 1) if not {place, place + 1} & alone]
    across = {place for place in pairs if is_suspicious(f"{texts[place]} {texts[place + 1]}")}
    return alone | across | {place + 1 for place in across}
