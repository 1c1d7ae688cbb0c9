"""Hide from the public the factors of the confidence and the times of the stages."""

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig

from chains.around import Around
from chains.audience import audience_in
from chains.output import AnswerChunk

STAFF_ONLY = {"confidence": "factors", "metadata": "timings_ms"}
"""A field of an answer, and the part of it that only callers with access to internal documents see."""


def for_strangers(part: Mapping[str, Any]) -> AnswerChunk:
    """Return an answer, or a part of one, with the fields for staff emptied."""
    hidden = {name: {**part[name], STAFF_ONLY[name]: {}} for name in STAFF_ONLY if part.get(name)}
    return AnswerChunk({**part, **hidden})


class Disclosure(Around):
    """The `bound` chain, whose answers to the public lack what only staff sees."""

    def shown(self, part: Any, config: RunnableConfig | None) -> Any:
        """Return a part of the answer as the caller of this config may see it."""
        return for_strangers(part) if audience_in(config) == "public" else part
