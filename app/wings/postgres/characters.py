"""Text as PostgreSQL can keep it: a space for NUL, a question mark for half of a surrogate pair.

Every text that is bound to a statement goes through `keepable` (driver.py), in what is stored as in what is looked up.
"""

import json
import re
from typing import Any

_ESCAPED_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")


def keepable(text: str) -> str:
    """Return a text of the same length without the characters that the database refuses."""
    return text.replace("\0", " ").encode(errors="replace").decode()


def as_json(value: Any) -> str:
    """Return a value as JSON whose strings hold no NUL; it would be an escape there, which `jsonb` refuses."""
    return _ESCAPED_NUL.sub(r"\1 ", json.dumps(value, ensure_ascii=False))
