"""Read the settings. A value that does not fit stops the program with the variable's name and what is allowed."""

import os
import re
from pathlib import Path
from typing import Any

from pydantic import SecretStr, ValidationError

from app.settings.settings import Settings

# What may be, or hold, a secret: an address with a password or a query, a key.
_SUSPECT = re.compile(r"[@?]|\b(?:gsk|sk|pk|lsv2)[_-]|[\w-]{32}", re.IGNORECASE)
# Prefixes and names that are set for this program only; other variables may belong to any program.
_OUR_PREFIXES = re.compile(
    r"(?:LLM|EMBEDDING|RETRIEVAL|RETRIEVER|RELEVANCE|MMR|CHUNK|CITATION|CONFIDENCE|SAFETY|MODERATION|SCOPE|CACHE|EVENTS|"
    r"RATE_LIMIT|OPENROUTER|PRIMARY_MODEL|ENABLE_QUERY)_?"
)
_OUR_NAMES = {
    *("SESSION_TTL", "RETRIEVAL_URL"),
    *("REDIS_HOST", "REDIS_PORT", "RABBITMQ_HOST", "RABBITMQ_PORT"),
}
_ASSIGNMENT = re.compile(r"^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=", re.MULTILINE)


class SettingsError(Exception):
    """Some settings do not fit; the message names each, with what is allowed."""


def load_settings(**overrides: Any) -> Settings:
    """Read the settings from the environment and `.env`; `overrides` win.

    Raises:
        SettingsError: a value does not fit, or `.env` cannot be read.
    """
    try:
        return Settings(**overrides)
    except ValidationError as error:
        raise SettingsError("\n".join(_explain(problem) for problem in error.errors())) from None
    except UnicodeDecodeError:
        msg = ".env is not UTF-8 text; save it in that encoding"
        raise SettingsError(msg) from None
    except OSError as error:
        msg = f".env cannot be read: {error.strerror}"
        raise SettingsError(msg) from error


def unused_variables() -> list[str]:
    """Return the variables that are set for this program, here or in `.env`, and that it does not know."""
    known = {name.upper() for name in Settings.model_fields}
    for field in Settings.model_fields.values():
        known |= {str(name).upper() for name in getattr(field.validation_alias, "choices", ())}
    environment = set(os.environ)  # noqa: TID251 - this module is what reads it.
    ours = {name for name in environment if name in _OUR_NAMES or _OUR_PREFIXES.match(name)}
    return sorted({name.upper() for name in ours | _written()} - known)


def _written() -> set[str]:
    file = Path(".env")
    return set(_ASSIGNMENT.findall(file.read_text(encoding="utf-8"))) if file.is_file() else set()


def _explain(problem: Any) -> str:
    reason = str(problem["msg"]).removeprefix("Value error, ")
    if not problem["loc"]:
        return reason
    name = str(problem["loc"][0])
    return f"{name.upper()}{_shown(name, problem['input'])}: {reason}"


def _shown(name: str, value: object) -> str:
    field = Settings.model_fields.get(name)
    secret = field is None or SecretStr.__name__ in str(field.annotation)
    return "" if secret or _SUSPECT.search(str(value)) else f"={value!r}"
