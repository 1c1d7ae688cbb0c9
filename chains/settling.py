"""The state at the end of the chain -> what the caller gets: the answer's fields, replaced words in their place.

A stream cannot take words back. There the replacement comes as a field of its own, for the client to show instead;
whoever waits for the whole gets it as the answer.
"""

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables.utils import AddableDict

from chains.state import Answer

REPLACEMENT = "replacement"


def settled(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer object with its words settled."""
    answer = {name: state[name] for name in Answer.__annotations__ if name in state}
    if state.get(REPLACEMENT) is not None:
        answer["answer"] = state[REPLACEMENT]
    return answer


def shown(part: Mapping[str, Any]) -> AddableDict:
    """Return what a reader sees of a part of the state; a replacement that replaces nothing is left out."""
    seen = {name: value for name, value in part.items() if name in Answer.__annotations__}
    if part.get(REPLACEMENT) is not None:
        seen[REPLACEMENT] = part[REPLACEMENT]
    return AddableDict(seen)
