"""Build the wheel: the packages of this tree move below `waypoint`, with their imports and their entry points.

In the tree they are top-level packages. Installed so, they would hide the `app`, `chains` or `prompts` of the program
that uses them, or be hidden by those.
"""

import ast
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NAME = "waypoint"
PACKAGES = ("app", "chains", "evals", "prompts")
PUBLIC = Path("app", "public.py")
"""The module that becomes `waypoint/__init__.py`."""
EDITABLE = '''"""The public names, in an editable installation; the packages of the tree are found below it."""

from app.public import __all__, __getattr__, main

__path__ = [{root!r}]
'''
# The questions of evals/reading are for those who develop the answerer.
IGNORED = shutil.ignore_patterns("__pycache__", "*.pyc", "reading")

_OURS = re.compile(rf"(?:{'|'.join(PACKAGES)})(?![^.])")
# A module named by a string, as `importlib` and servers take it; a file's name is none.
_NAMED = re.compile(rf"(?:-m )?(?:{'|'.join(PACKAGES)})[.:](?!(?:json|jsonl|py|txt|yaml)\b)\w*(?:[.:]\w*)*$")


class WheelHook(BuildHookInterface):  # type: ignore[type-arg]
    """Hands hatchling a rewritten copy of the packages."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the copy; an editable installation gets one module, `waypoint`, beside the tree as it is."""
        self._folder = Path(tempfile.mkdtemp())
        if version == "editable":
            module = self._folder / f"{NAME}.py"
            module.write_text(EDITABLE.format(root=self.root), encoding="utf-8")
            build_data["force_include_editable"][str(module)] = module.name
        else:
            build_tree(Path(self.root), self._folder / NAME)
            build_data["force_include"][str(self._folder / NAME)] = NAME
            for parts in self.metadata.core.entry_points.values():
                parts.update({name: f"{NAME}.{place}" for name, place in parts.items() if _OURS.match(place)})

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the copy."""
        shutil.rmtree(self._folder)


def build_tree(root: Path, target: Path) -> None:
    """Write the package `waypoint` into `target`.

    Raises:
        ValueError: a module is named in a way that is not rewritten.
    """
    for package in PACKAGES:
        shutil.copytree(root / package, target / package, ignore=IGNORED)
    shutil.copytree(root / "knowledge_base", target / "app" / "knowledge_base", ignore=IGNORED)
    (target / PUBLIC).rename(target / "__init__.py")
    (target / "py.typed").touch()
    for file in sorted(target.rglob("*.py")):
        file.write_bytes(rewritten(file.read_bytes()))
    left = [f"{file.relative_to(target)}, {name}" for file in sorted(target.rglob("*.py")) for name in left_over(file)]
    if left:
        msg = f"these would not work below `{NAME}`:\n" + "\n".join(left)
        raise ValueError(msg)


def rewritten(source: bytes) -> bytes:
    """Return a module whose imports of this tree's packages go below `waypoint`; every line keeps its number."""
    lines = source.splitlines(keepends=True)
    for number, column, old, new in sorted(_changes(ast.parse(source)), reverse=True):
        line = lines[number - 1]
        place = line.index(old.encode(), column)
        lines[number - 1] = line[:place] + new.encode() + line[place + len(old) :]
    return b"".join(lines)


def _changes(tree: ast.Module) -> Iterator[tuple[int, int, str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and _OURS.match(node.module or ""):
            yield node.lineno, node.col_offset + len("from"), f" {node.module} ", f" {NAME}.{node.module} "
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in PACKAGES and not alias.asname:
                    yield alias.lineno, alias.col_offset, alias.name, f"{NAME}.{alias.name} as {alias.name}"
                elif _OURS.match(alias.name) and alias.asname:
                    yield alias.lineno, alias.col_offset, alias.name, f"{NAME}.{alias.name}"


def left_over(file: Path) -> Iterator[str]:
    """Yield what in a rewritten module still names a package of this tree: imports, and strings like `chains.state`."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom):
            names = [f"from {node.module}"] if node.level or _OURS.match(node.module or "") else []
        elif isinstance(node, ast.Import):
            names = [f"import {alias.name}" for alias in node.names if _OURS.match(alias.name)]
        elif isinstance(node, ast.Call):  # As in `files("prompts")`.
            named = [one.value for one in node.args if isinstance(one, ast.Constant) and one.value in PACKAGES]
            names = [f"{name!r}; write it with __name__ or __package__" for name in named]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _NAMED.match(node.value):
            names = [f"{node.value!r}; write it with __name__ or __package__"]
        yield from (f"line {node.lineno}: {name}" for name in names)
