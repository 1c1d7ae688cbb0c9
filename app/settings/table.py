"""Print the settings: as a Markdown table, or with `env` as the text of `.env.example`."""

import sys

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from app.settings.settings import GONE, fields

HEAD = """# Every setting with its default. Copy this file to `.env` and change what you need; nothing has to be set.
# Booleans take 1/0, true/false, yes/no, on/off. `python -m app.settings.table env` writes this file.
"""
# What a newcomer sets first.
FIRST = (
    *("llm_api_key", "llm_provider", "llm_base_url", "llm_model", "retriever_type", "retrieval_top_k"),
    *("relevance_threshold", "auth_mode", "cache_enabled", "port"),
)


def settings_table() -> str:
    rows = [
        f"| `{name.upper()}` | {f'`{default}`' if (default := default_of(field)) else ''} | {meaning(field)} |"
        for name, field in fields().items()
    ]
    return "\n".join(["| setting | default | meaning |", "|---|---|---|", *rows, ""])


def gone_table() -> str:
    names: dict[str, list[str]] = {}
    for name, advice in sorted(GONE.items()):
        names.setdefault(advice, []).append(f"`{name}`")
    rows = [f"| {', '.join(those)} | {advice} |" for advice, those in names.items()]
    return "\n".join(["| setting | what to do |", "|---|---|", *rows, ""])


def example_file() -> str:
    """Return the text of `.env.example`: the meaning of each setting, then its name and default."""
    lines = (f"\n# {meaning(field)}\n{name.upper()}={default_of(field)}\n" for name, field in fields().items())
    return HEAD + "".join(lines)


def starter_file() -> str:
    """Return what a newcomer sets first, commented out, for the `.env` of `waypoint init`."""
    head = "\n# Without the # a line counts. Defaults are shown; docs/settings.md has all settings.\n"
    first = ((name, fields()[name]) for name in FIRST)
    return head + "".join(f"\n# {meaning(field)}\n# {name.upper()}={default_of(field)}\n" for name, field in first)


def meaning(field: FieldInfo) -> str:
    return " ".join((field.description or "").split())


def default_of(field: FieldInfo) -> str:
    """Return the default as an environment variable would hold it; empty if there is none."""
    default = field.get_default(call_default_factory=True, validated_data={})
    default = default.get_secret_value() if isinstance(default, SecretStr) else default
    if isinstance(default, bool):
        return str(default).lower()
    return "" if default is None else f"{default:g}" if isinstance(default, float) else str(default)


if __name__ == "__main__":
    sys.stdout.write(example_file() if "env" in sys.argv else settings_table())
