"""The kinds of attack: each module here is one, found by its file, and the module's name is that of the kind.

A module has `attack(folder) -> list[Tried]`: it may write into the empty folder, and returns a row of the table of
docs/security.md for each thing that it tried. To add a kind, add a module; nothing else lists them.
"""

import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import cast

from benchmarks.hostile.tried import Tried

Attack = Callable[[Path], list[Tried]]


def kinds() -> list[str]:
    """Return the names of all kinds, in the order of the table."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def attack_of(kind: str) -> Attack:
    """Return what tries the kind."""
    return cast("Attack", importlib.import_module(f"{__name__}.{kind}").attack)
