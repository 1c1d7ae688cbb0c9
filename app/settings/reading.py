"""Read the settings. An invalid value stops the program and names the variable and the allowed values."""

import re
from typing import Any

from pydantic import SecretStr, ValidationError

from app.settings.settings import Settings, fields

# Values that may be or contain a secret: an address with a password or a query, a key.
_SUSPECT = re.compile(r"[@?]|\b(?:gsk|sk|pk|lsv2)[_-]|[\w-]{32}", re.IGNORECASE)


class SettingsError(Exception):
    """Some settings are invalid; the message names each, and the allowed values."""


def load_settings(**overrides: Any) -> Settings:
    """Read the settings from the environment and `.env`; `overrides` win.

    Raises:
        SettingsError: a value is invalid, or `.env` cannot be read.
    """
    try:
        return Settings(**overrides)
    except ValidationError as error:
        raise SettingsError("\n".join(_explain(problem) for problem in error.errors())) from None
    except UnicodeDecodeError:
        msg = ".env is not UTF-8 text; save it in that encoding"
        raise SettingsError(msg) from None
    except ValueError as error:  # They do not fit together.
        raise SettingsError(str(error)) from None
    except OSError as error:
        msg = f".env cannot be read: {error.strerror}"
        raise SettingsError(msg) from error


def _explain(problem: Any) -> str:
    reason = str(problem["msg"]).removeprefix("Value error, ")
    if not problem["loc"]:
        return reason
    name = str(problem["loc"][0])
    return f"{name.upper()}{_shown(name, problem['input'])}: {reason}"


def _shown(name: str, value: object) -> str:
    field = fields().get(name)
    secret = field is None or SecretStr.__name__ in str(field.annotation)
    return "" if secret or _SUSPECT.search(str(value)) else f"={value!r}"
