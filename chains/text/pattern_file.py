"""Read a file of regular expressions: `#` comments, fragments `NAME = PATTERN`, and heads with a pattern below them."""

import re
from importlib.resources import files

_FRAGMENT, _USE = re.compile(r"([A-Z_]+) = (.*)"), re.compile(r"\{([A-Z_]+)\}")


def read_patterns(package: str, name: str) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return the fragments, and what stands behind each `= ` with its pattern; `{NAME}` is the last fragment above."""
    fragments: dict[str, str] = {}
    blocks: list[tuple[str, str]] = []
    lines = files(package).joinpath(name).read_text("utf-8").splitlines()
    for line in (line for line in lines if not line.startswith("#")):
        whole = _USE.sub(lambda use: fragments[use[1]], line)
        if fragment := _FRAGMENT.fullmatch(whole):
            fragments[fragment[1]] = fragment[2]
        elif whole.startswith("= "):
            blocks.append((whole[2:], ""))
        else:
            blocks[-1] = blocks[-1][0], blocks[-1][1] + whole
    return fragments, blocks
