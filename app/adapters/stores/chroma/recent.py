"""What stands under an id -> the same without asking the store again, for what was asked for of late."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

# Decoding a chunk's metadata or its vector costs more than finding it, so some are kept, at about 3 kB each.
RECENT = 2_000

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """What was fetched by id, some of which is kept.

    An id is the hash of its chunk: what stands under it never changes, and whether it is still there the searches say.
    """

    def __init__(self) -> None:
        self._kept: dict[str, Value] = {}

    def get(self, ids: Sequence[str], fetch: Callable[[list[str]], dict[str, Value]]) -> dict[str, Value]:
        """Return what stands under the `ids`; `fetch` is asked for what is not kept."""
        kept = self._kept
        missing = [id_ for id_ in ids if id_ not in kept]
        fetched = fetch(missing) if missing else {}
        found = {id_: kept[id_] for id_ in ids if id_ in kept} | fetched
        if fetched:  # A new dictionary, so that threads which read the old one are not disturbed.
            self._kept = kept | found if len(kept) + len(fetched) <= RECENT else found
        return found

    def clear(self) -> None:
        """Keep nothing of what was fetched so far."""
        self._kept = {}
