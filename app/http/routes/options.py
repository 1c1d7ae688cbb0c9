"""What a client may set beside its question: how many passages, and how similar they have to be.

A JSON number becomes an int or a float: neither a boolean nor a number in quotes is one, and 9.0 is whole.
"""

from typing import Annotated

from pydantic import BeforeValidator, Field


def _number(kind: str) -> BeforeValidator:
    def check(value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int | float):
            msg = f"Input should be a valid {kind}"
            raise ValueError(msg)
        return value

    return BeforeValidator(check)


TopK = Annotated[int, Field(ge=1, le=100), _number("integer")]
ChatTopK = Annotated[int, Field(ge=1, le=20), _number("integer")]
Threshold = Annotated[float, Field(ge=0, le=1), _number("number")]
