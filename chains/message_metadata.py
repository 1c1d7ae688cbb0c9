"""What the chain and its models write beside the words of their messages, and how it is read."""

from collections.abc import Sequence
from functools import reduce
from operator import add

from langchain_core.messages import AIMessageChunk, BaseMessage

WITHHELD, LINKS_REMOVED = "withheld", "links_removed"
"""In a message's `response_metadata`: why the words are withheld; how many links, images and tags were taken out."""

DEGRADED = "degraded"
"""In a message's `response_metadata`: why the answer is not what it should be."""

MATCH = "match"
"""In a message's `response_metadata`: the probability, 0-1, that its first statement answers the question. Only a model
that chooses statements tells it."""

ASKED = "question"
"""In the `additional_kwargs` of a prompt's question: the question's own words, without the reminder behind them."""

UNSURE = "unsure"
"""In a message's `response_metadata`: True where there is evidence, but none that answers the question for sure."""

CLOSEST = "closest"
"""In a message's `response_metadata`: the places, in the context, of the passages that come closest, best first."""

SEARCHED = "searched"
"""In the `additional_kwargs` of a prompt's question: the query that was searched for."""

SCORES = "scores"
"""In the `additional_kwargs` of a prompt's question: the similarity of each passage of the context, None if unknown."""


PARTS = "parts"
"""In the `additional_kwargs` of a prompt's question: the questions of a message that holds several, each with the
`places` of its passages in the context, best first, and their `scores`."""


def degradation_of(message: BaseMessage) -> str | None:
    """Return why the message is not what it should be; None for one that is."""
    reason: str | None = message.response_metadata.get(DEGRADED)
    return reason


def match_of(message: BaseMessage) -> float | None:
    """Return the model's own probability that the message answers its question; None if it gives none."""
    found: float | None = message.response_metadata.get(MATCH)
    return found


def joined(pieces: Sequence[BaseMessage]) -> BaseMessage:
    """Return the message that came in these pieces."""
    first, *others = pieces
    if others and isinstance(first, AIMessageChunk):
        return first + others  # At once; one by one each sum would copy the words so far.
    return reduce(add, pieces)


def withheld_because(message: BaseMessage) -> str | None:
    """Return why the message's words are not shown; None for one that may be."""
    reason: str | None = message.response_metadata.get(WITHHELD)
    return reason
