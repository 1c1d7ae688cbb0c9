"""What a group of settings is, the types of its fields, and the defaults of each provider."""

import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Annotated, Any, Final, Literal, Self, get_args
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    DirectoryPath,
    Field,
    SecretStr,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app import hooks

ORIGIN = re.compile(
    r"\*|none|https?://(\*\.)?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:(\d{1,5}|\*))?|https?://\[[0-9A-Fa-f:]+\](:\d{1,5})?"
)
_HOST = re.compile(r"[^\W_]([\w-]*[^\W_])?(\.[^\W_]([\w-]*[^\W_])?)*")
_BOOLEANS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


def _boolean(value: object) -> object:
    if isinstance(value, str):
        if value.strip().lower() not in _BOOLEANS:
            raise ValueError("is not one of 1, 0, true, false, yes, no, on, off")
        return _BOOLEANS[value.strip().lower()]
    return value


def _reformulation(value: object) -> object:
    """Return the mode; true and false are accepted from the older form."""
    text = str(value).strip().lower()
    if text in {"auto", "always", "off"}:
        return text
    if text not in _BOOLEANS:
        raise ValueError("is not one of auto, always, off, true, false")
    return "always" if _BOOLEANS[text] else "off"


def _valid(is_valid: Callable[[Any], bool], otherwise: str) -> AfterValidator:
    """Return a validator that reports values which are not valid, in words that do not quote them."""

    def check(value: Any) -> Any:
        if not is_valid(value):
            raise ValueError(otherwise)
        return value

    return AfterValidator(check)


def _address(*schemes: str, like: str) -> AfterValidator:
    return _valid(partial(_is_address, schemes=schemes), f"must be an address like {like}")


def _is_address(url: str | SecretStr, schemes: Collection[str] = ("http", "https")) -> bool:
    try:
        parts = urlsplit(url.get_secret_value() if isinstance(url, SecretStr) else url)
        return parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:  # Its message quotes the address, and with it a password.
        return False


def _is_redis(url: SecretStr) -> bool:
    value = url.get_secret_value()
    is_numbered = _is_address(url, ("redis", "rediss")) and (urlsplit(value).path.strip("/") or "0").isdecimal()
    return value.startswith("unix://") or is_numbered


def _service(value: str, words: str, *, local: str = "") -> str:
    """Return the address of a service, or one of the words; after a service or `local` a model may follow."""
    name, _, model = value.strip().partition(" ")
    if value.strip().lower() in words.split(", ") or name.lower() == local:
        name = name.lower()
    elif not _is_address(name):
        like = "http://127.0.0.1:8080/v1, with a model after a blank"
        raise ValueError(f"is not one of {words}, or the address of a service like {like}")
    return f"{name} {model.strip()}".strip()


def _fallback(value: object) -> object:
    word = str(value).strip().lower()
    return _BOOLEANS[word] if word in _BOOLEANS else _service(str(value), "true, false")


def _list_of(form: re.Pattern[str], what: str) -> AfterValidator:
    def checked(text: str) -> str:
        parts = [part.strip() for part in text.split(",") if part.strip()]
        if wrong := next((part for part in parts if not form.fullmatch(part)), None):
            raise ValueError(f"holds {wrong!r}, which is not {what}")
        return ",".join(parts)

    return AfterValidator(checked)


def _json_object(value: object) -> object:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError('must be a JSON object like {"reasoning_effort": "low"}') from None


def part(kind: str) -> AfterValidator:
    def known(value: str) -> str:
        name, names = value.strip().lower(), hooks.names(kind)
        if name not in names:
            raise ValueError(f"Input should be {', '.join(map(repr, names[:-1]))} or {names[-1]!r}")
        return name

    return AfterValidator(known)


Reranker = Annotated[str, AfterValidator(partial(_service, words="cross-encoder, llm", local="cross-encoder"))]
Fallback = Annotated[bool | str, BeforeValidator(_fallback)]
JsonObject = Annotated[dict[str, Any], NoDecode, BeforeValidator(_json_object)]
Flag = Annotated[bool, BeforeValidator(_boolean)]
Reformulation = Annotated[Literal["auto", "always", "off"], BeforeValidator(_reformulation)]
LogLevel = Annotated[
    Literal["debug", "info", "warning", "error"],
    BeforeValidator(lambda level: "warning" if str(level).strip().lower() == "warn" else level),
]
Fraction = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[int, Field(gt=0)]
Seconds = Annotated[float, Field(gt=0)]
Port = Annotated[int, Field(ge=1, le=65535)]
WebAddress = Annotated[str, _address("http", "https", like="https://host or http://host:8080/path")]
Hosts = Annotated[str, AfterValidator(str.lower), _list_of(_HOST, "a host name like example.org")]
_ORIGINS = "an origin like https://www.example.com, https://*.example.com or *"
Origins = Annotated[str, _list_of(ORIGIN, _ORIGINS)]
_REDIS = "must be an address like redis://127.0.0.1:6379/0, rediss://user:password@host:6379/0 or unix:///path"
RedisAddress = Annotated[SecretStr, _valid(_is_redis, _REDIS)]
BrokerAddress = Annotated[SecretStr, _address("amqp", "amqps", like="amqp://user:password@host:5672/")]
WritableFolder = Annotated[
    DirectoryPath, _valid(lambda folder: os.access(folder, os.W_OK | os.X_OK), "is a folder that cannot be written")
]

LOCAL_SERVERS: Final = {"ollama": "http://127.0.0.1:11434/v1", "llama-cpp": "http://127.0.0.1:8080/v1"}
"""Local model servers, and the addresses they listen on by default."""
LISTED_MODEL: Final = "default"
"""The default LLM_MODEL of a local server: the first model that it lists."""
USUAL_MODELS: Final = {"openrouter": "google/gemma-3n-e2b-it:free"} | dict.fromkeys(LOCAL_SERVERS, LISTED_MODEL)
REWRITING_S: Final = 3
LOCAL_REWRITING_S: Final = 30


def provider_of(values: Mapping[str, Any]) -> str:
    """Return the provider in force: the one that is set, else that of the key that is set, else offline."""
    keyed = "groq" if values.get("api_key") else "openrouter" if values.get("openrouter_api_key") else "offline"
    return values.get("chosen") or keyed


class Fitting(BaseModel):
    """Values that have to fit together."""

    def contradictions(self) -> Iterator[str]:
        """Yield what does not fit together, in words; nothing where all does."""
        yield from ()

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for reason in self.contradictions():
            raise ValueError(reason)
        return self


class Group(BaseSettings, Fitting):
    """Settings of one subject: a plain `BaseSettings`, read from the environment and `.env`.

    The variable of a field is the group's `env_prefix` and the field's name, unless its alias says another. A field
    with `exclude` is another program's or an earlier name for something that has a setting: it is read, and not listed.
    """

    model_config = SettingsConfigDict(
        env_file=".env",
        env_file_encoding="utf-8",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        protected_namespaces=(),
        use_attribute_docstrings=True,
    )

    @classmethod
    def names_of(cls, field: str) -> list[str]:
        """Return the variables that set a field, in lower case; the first is its own."""
        alias = cls.model_fields[field].validation_alias
        if isinstance(alias, AliasChoices):
            return [str(name) for name in alias.choices]
        return [str(alias or f"{cls.model_config.get('env_prefix', '')}{field}")]

    @field_validator("*", mode="before", check_fields=False)
    @classmethod
    def _any_case(cls, value: object, info: ValidationInfo) -> object:
        """Ignore case in settings with a fixed set of words."""
        word = value.strip().lower() if isinstance(value, str) else None
        parts = get_args(cls.model_fields[info.field_name or ""].annotation)
        words = {word for part in parts for word in (get_args(part) or (part,))}  # Of a Literal, also an optional one.
        return word if word and word in words else value
