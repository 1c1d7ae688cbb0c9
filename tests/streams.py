"""Merge the parts of a stream into the answer that a client ends up with."""

from collections.abc import Iterable, Mapping
from typing import Any


def merged(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the fields of the stream, the pieces of the answer joined."""
    whole: dict[str, Any] = {}
    for part in parts:
        for name, value in part.items():
            whole[name] = whole[name] + value if name == "answer" and name in whole else value
    return whole
