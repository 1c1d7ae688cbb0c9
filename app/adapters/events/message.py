"""What is handed over, kept, and delivered."""

from typing import NamedTuple


class Message(NamedTuple):
    """A JSON text with its id, the routing key it is published under, and the id of the request it belongs to."""

    id: str
    routing_key: str
    correlation_id: str
    body: str
