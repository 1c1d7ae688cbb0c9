"""The answer object at the end of the chain -> what the caller gets: the replacement in place of the words, if any.

A stream cannot take words back. There the replacement comes as a field of its own, for the client to show instead;
whoever waits for the whole gets it as the answer.
"""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.utils import AddableDict

REPLACEMENT = "replacement"


class Settle(Runnable[Any, Any]):
    """Puts the replacement in place of the answer, where nothing has been shown yet."""

    def invoke(self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any]:
        """Return the answer object with its words settled."""
        settled = {name: value for name, value in input.items() if name != REPLACEMENT}
        if input.get(REPLACEMENT) is not None:
            settled["answer"] = input[REPLACEMENT]
        return settled

    def transform(
        self, input: Iterator[dict[str, Any]], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[dict[str, Any]]:
        """Pass the stream on; a replacement that replaces nothing is left out."""
        for part in input:
            yield from _worth_showing(part)

    async def atransform(
        self, input: AsyncIterator[dict[str, Any]], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[dict[str, Any]]:
        """Pass the stream on; a replacement that replaces nothing is left out."""
        async for part in input:
            for shown in _worth_showing(part):
                yield shown


def _worth_showing(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    shown = AddableDict({name: value for name, value in part.items() if name != REPLACEMENT or value is not None})
    if shown:
        yield shown
