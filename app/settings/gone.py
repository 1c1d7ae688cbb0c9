"""Names of settings that are not read: those of earlier versions, and those of similar programs."""

import tomllib
from pathlib import Path

_NAMES = tomllib.loads((Path(__file__).parent / "names.toml").read_text(encoding="utf-8"))
GONE: dict[str, str] = _NAMES["gone"]
"""What to do about each setting that is gone."""
MEANT: dict[str, str] = _NAMES["meant"]
"""Our setting for a name of similar programs."""


def gone_table() -> str:
    """Return a Markdown table of what is no longer read, and what to do."""
    names: dict[str, list[str]] = {}
    for name, advice in sorted(GONE.items()):
        names.setdefault(advice, []).append(f"`{name}`")
    rows = [f"| {', '.join(those)} | {advice} |" for advice, those in names.items()]
    return "\n".join(["| setting | what to do |", "|---|---|", *rows, ""])
