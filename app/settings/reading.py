"""Read the settings. An invalid value stops the program; a variable that nothing reads is named with the one meant."""

import os
import re
import tomllib
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import SecretStr, ValidationError

from app.settings.settings import PLACES, Settings, groups
from app.settings.values import Group
from chains.errors import ConfigurationError

_NAMES = tomllib.loads((Path(__file__).parent / "names.toml").read_text(encoding="utf-8"))
GONE: dict[str, str] = _NAMES["gone"]
"""What to do about each setting of earlier versions that is gone."""
MEANT: dict[str, str] = _NAMES["meant"]
"""Our setting for a name of similar programs."""

# Values that may be or contain a secret: an address with a password or a query, a key.
_SUSPECT = re.compile(r"[@?]|\b(?:gsk|sk|pk|lsv2)[_-]|[\w-]{32}", re.IGNORECASE)


class SettingsError(ConfigurationError):
    """Some settings are invalid; the message names each, and the allowed values."""


def load_settings(**variables: Any) -> Settings:
    """Read the settings from the environment and `.env`; `variables`, in lower case, win.

    Raise SettingsError if a value is invalid, some do not fit together, or `.env` cannot be read; TypeError if there is
    no such variable.
    """
    env_file = variables.pop("_env_file", ".env")
    given: dict[str, dict[str, Any]] = {name: {} for name in groups()}
    for variable, value in variables.items():
        if variable not in _places():
            raise TypeError(f"there is no setting {variable.upper()}")
        group, name = _places()[variable]
        given[group][name] = value
    made = _read_groups(env_file, given)
    named = {v for group in made.values() for v, f in group.variables().items() if f in group.model_fields_set}
    try:
        return Settings(**made, names_index=bool(PLACES & named) or Path(".env").is_file())
    except ValidationError as error:
        reason = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
    raise SettingsError(reason)


def _read_groups(env_file: Path | str | None, given: dict[str, dict[str, Any]]) -> dict[str, Any]:
    made: dict[str, Group] = {}
    problems: list[str] = []
    try:
        for name, group in groups().items():
            try:
                made[name] = group(_env_file=env_file, **given[name])
            except ValidationError as error:
                problems += [_explain(group, problem) for problem in error.errors()]
    except UnicodeDecodeError:
        problems = [".env is not UTF-8 text; save it in that encoding"]
    except OSError as error:
        problems = [f".env cannot be read: {error.strerror}"]
    if problems:
        raise SettingsError("\n".join(problems))
    return made


@cache
def _places() -> dict[str, tuple[str, str]]:
    """Return the group of each variable, and the name under which the group takes its value."""
    return {
        variable: (name, variable if group.model_fields[field].validation_alias else field)
        for name, group in groups().items()
        for field in group.model_fields
        for variable in group.names_of(field)
    }


def _explain(group: type[Group], problem: Any) -> str:
    """Return what is wrong with a value, which is quoted unless it is or may be a secret."""
    reason = str(problem["msg"]).removeprefix("Value error, ")
    if not problem["loc"]:
        return reason
    variable, value = str(problem["loc"][0]), problem["input"]
    if (named := group.model_fields.get(variable)) and not named.validation_alias:
        variable = group.names_of(variable)[0]
    field = next((info for name, info in group.model_fields.items() if variable in group.names_of(name)), None)
    is_secret = field is None or SecretStr.__name__ in str(field.annotation) or _SUSPECT.search(str(value))
    return f"{variable.upper()}{'' if is_secret else f'={value!r}'}: {reason}"


# Prefixes and names of this program's variables; others may belong to any program.
_OUR_PREFIXES = re.compile(
    r"(?:LLM|EMBEDDING|RETRIEVAL|RETRIEVER|RELEVANCE|MMR|RERANK(?:ER|ING)?|CHUNK|CITATION|CONFIDENCE|SAFETY|MODERATION|"
    r"SCOPE|CACHE|EVENTS|RATE_LIMIT|OPENROUTER|PRIMARY_MODEL|ENABLE_QUERY)_?"
)
_ASSIGNMENT = re.compile(r"^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=", re.MULTILINE)


def unused_variables() -> dict[str, str | None]:
    """Return each variable that is set but not read, with the setting that was probably meant, or None."""
    known, meant, file = {name.upper() for name in _places()}, MEANT | GONE, Path(".env")
    environment = {name for name in os.environ if name.upper() in meant or _OUR_PREFIXES.match(name)}  # noqa: TID251 - read to warn.
    written = _ASSIGNMENT.findall(file.read_text(encoding="utf-8")) if file.is_file() else ()
    unread = sorted({name.upper() for name in environment.union(written)} - known)
    near = {name: next(iter(get_close_matches(name, sorted(known), n=1, cutoff=0.85)), None) for name in unread}
    return {name: meant.get(name) or near[name] for name in unread}


def unused_warning() -> str | None:
    """Return one line that names all unused variables and the right names; None if there are none."""
    names = [
        f"{name} (gone: {GONE[name]})" if name in GONE else f"{name} (use {meant})" if meant else name
        for name, meant in unused_variables().items()
    ]
    return ", ".join(names) or None
