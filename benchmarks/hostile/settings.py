"""Settings that cannot be: each is refused by name, without a traceback and without showing a secret."""

from collections.abc import Iterator
from pathlib import Path

from app.settings import SettingsError, fields, load_settings
from benchmarks.hostile.trying import Tried

NUMBERS = ("x", "nan", "inf", "-1", "1e999", "9" * 400, "0x10", "1,5")
WORDS = ("maybe", "2", "\u202e", "secret-word")
ADDRESSES = (
    *("amqp://", "http://", "redis://user:hushed@host:port/0", "htps://user:hushed@host", "user:hushed@host"),
    *("https://user:hushed@[host", "//user:hushed@host", "http://user:hushed@host:99999/"),
)


def cases() -> Iterator[tuple[str, str]]:
    for name, field in fields().items():
        kind = str(field.annotation)
        if "url" in name:
            values: tuple[str, ...] = ADDRESSES
        elif "int" in kind or "float" in kind:
            values = NUMBERS
        elif "bool" in kind or "Literal" in kind:
            values = WORDS
        else:
            continue
        for value in values:
            yield name, value


def attack(folder: Path) -> list[Tried]:
    """Load each from a file; it is refused by its name or taken, and nothing else."""
    tried = Tried("settings", "refused by name, or taken; no traceback, no password shown")
    file = folder / ".env"
    for name, value in cases():
        file.write_text(f"{name.upper()}={value}\n", encoding="utf-8")
        tried.add(f"{name.upper()}={value[:40]}", held=_held(file, name))
    return [tried]


def _held(file: Path, name: str) -> bool:
    try:
        load_settings(_env_file=file)
    except SettingsError as error:
        return name.upper() in str(error) and "hushed" not in str(error)
    except Exception:  # Anything else is a traceback to the operator.
        return False
    return True
