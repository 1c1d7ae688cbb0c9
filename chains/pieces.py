"""A whole answer <-> its pieces: the parts of a stream, in the order in which the chain tells them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from langchain_core.runnables.utils import AddableDict

from chains.settling import REPLACEMENT
from chains.state import Answer

# A few words at a time: each piece costs its way through the callbacks and to the client.
_WORDS = re.compile(r"\s*(?:\S+\s*){1,6}|\s+")
# What is known before the words come, and what only after them.
_BEFORE = ("question", "documents")
_LAST = "metadata"


def pieces(answer: Answer) -> Iterator[Answer]:
    """Yield the answer field by field, as the chain streams it, and its words a few at a time."""
    fields: dict[str, Any] = dict(answer)
    for name in _BEFORE:
        if name in fields:
            yield _piece(name, fields.pop(name))
    for words in _WORDS.findall(fields.pop("answer")) or [""]:
        yield _piece("answer", words)
    last = fields.pop(_LAST)
    for name, value in fields.items():
        yield _piece(name, value)
    yield _piece(_LAST, last)


def joined(parts: Iterable[Mapping[str, Any]]) -> Answer:
    """Return what a client shows in the end: the words joined, or the replacement in their place."""
    whole: dict[str, Any] = {}
    for part in parts:
        for name, value in part.items():
            whole[name] = whole[name] + value if name == "answer" and name in whole else value
    replacement = whole.pop(REPLACEMENT, None)
    settled = whole if replacement is None else whole | {"answer": replacement}
    ordered = {name: settled[name] for name in Answer.__annotations__ if name in settled}
    return cast("Answer", ordered | settled)


def _piece(name: str, value: object) -> Answer:
    return cast("Answer", AddableDict({name: value}))
