"""Cases of one form, under the claims that they prove."""

from collections.abc import Mapping
from typing import Any

import pytest


def cases(claims: Mapping[str, Any]) -> list[Any]:
    """Return the cases for `parametrize`, each named after its claim; one that is no tuple is a single value."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), id=f"{claim} {number}")
        for claim, group in claims.items()
        for number, case in enumerate(group, start=1)
    ]
