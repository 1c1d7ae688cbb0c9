"""What keeps messages until the broker has them: the interface of every kind of store, and its error.

Every process stores its messages; of all that share a store one delivers them, and the next takes over where it ends.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from chains.errors import WaypointError


class EventStoreError(WaypointError):
    """Messages cannot be stored or read at the moment, or another process delivers them now."""

    stage = "events"
    code = "EVENT_STORE_ERROR"


class Message(NamedTuple):
    """A JSON text with its id, its routing key, and the id of the request that it belongs to."""

    id: str
    routing_key: str
    correlation_id: str
    body: str


class EventStore(Protocol):
    """Messages in the order in which they were stored, up to a capacity; used by one thread at a time.

    Every method but `close` raises EventStoreError where the store does not answer; the same call may succeed later.
    """

    def check(self) -> str:
        """Read once, and say where messages wait.

        Raises:
            ConfigurationError: the store does not fit this program, or the settings.
        """

    def put(self, messages: Sequence[Message]) -> int:
        """Store the messages but those whose id is there, and return how many of the oldest were dropped for them."""

    def first(self, limit: int) -> list[Message]:
        """Return the oldest messages, at most `limit`, to the process that delivers."""

    def remove_through(self, id_: str) -> int:
        """Remove a message and all before it, and return how many there were."""

    def count(self) -> int:
        """Return the number of messages."""

    def claim(self) -> bool:
        """Return whether this process is the one that delivers; no other is, until it closes the store or ends."""

    def close(self) -> None:
        """Leave the delivery to another process."""
