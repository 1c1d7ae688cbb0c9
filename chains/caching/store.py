"""Where cached bytes are kept for a time: the seam between the levels and their memory."""

from abc import abstractmethod
from collections.abc import Sequence

from langchain_core.stores import ByteStore


class StoreError(Exception):
    """The store did not answer; the levels take it for a miss, so that it goes no further."""


class ExpiringStore(ByteStore):
    """A ByteStore of LangChain that forgets what it was given a while ago.

    Every method may raise StoreError, and none takes long.
    """

    @abstractmethod
    def mset(self, key_value_pairs: Sequence[tuple[str, bytes]], *, ttl_s: float | None = None) -> None:
        """Keep the values for `ttl_s` seconds; without them for as long as the store keeps things."""

    @abstractmethod
    async def amset(self, key_value_pairs: Sequence[tuple[str, bytes]], *, ttl_s: float | None = None) -> None:
        """Do the same without blocking the event loop."""
