"""What a value depends on -> one text: the same for equal parts, another for any difference."""

import json
from dataclasses import asdict, is_dataclass
from typing import Any

from pydantic import BaseModel


def canonical(parts: object) -> str:
    """Return the parts as JSON, with the names in mappings sorted and everything else in its order.

    Raises:
        TypeError, ValueError, RecursionError: a part is no plain data. Whoever cannot name a value must not keep it.
    """
    return json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_plain)


def _plain(value: object) -> Any:
    """Return the data of a message or of a record; its kind tells a human's word from the model's."""
    if isinstance(value, BaseModel):
        return {type(value).__name__: value.model_dump(mode="json")}
    if is_dataclass(value) and not isinstance(value, type):
        return {type(value).__name__: asdict(value)}
    msg = f"{type(value).__name__} is no plain data"
    raise TypeError(msg)
