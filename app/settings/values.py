"""Types of settings: flags, fractions, addresses with and without passwords; and the defaults of each provider."""

import json
import os
import re
from collections.abc import Callable, Collection
from functools import partial
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, DirectoryPath, Field, SecretStr
from pydantic_settings import NoDecode

from app import hooks

_ORIGIN = re.compile(
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


def _reranker(value: str) -> str:
    name = value.strip().lower()
    if name in {"cross-encoder", "llm"}:
        return name
    if not _is_address(value):
        raise ValueError("is not one of cross-encoder, llm, or the address of a service like http://127.0.0.1:8080/v1")
    return value


def _list_of(form: re.Pattern[str], what: str) -> AfterValidator:
    def checked(text: str) -> str:
        parts = [part.strip() for part in text.split(",") if part.strip()]
        if wrong := next((part for part in parts if not form.fullmatch(part)), None):
            raise ValueError(f"holds {wrong!r}, which is not {what}")
        return ",".join(parts)

    return AfterValidator(checked)


def is_origin(text: str) -> bool:
    """Return whether a text is an origin as a content security policy writes it."""
    return _ORIGIN.fullmatch(text) is not None


def _json_object(value: object) -> object:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError('must be a JSON object like {"reasoning_effort": "low"}') from None


def _part(kind: str) -> AfterValidator:
    def known(value: str) -> str:
        name, names = value.strip().lower(), hooks.names(kind)
        if name not in names:
            raise ValueError(f"Input should be {', '.join(map(repr, names[:-1]))} or {names[-1]!r}")
        return name

    return AfterValidator(known)


StoreName = Annotated[str, _part("vectors")]
RetrieverName = Annotated[str, _part("retrieval")]
Reranker = Annotated[str, AfterValidator(_reranker)]
ModelProvider = Annotated[str, _part("models")]
EmbeddingProvider = Annotated[str, _part("embeddings")]
ConfidenceName = Annotated[str, _part("confidence")]
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
Origins = Annotated[str, _list_of(_ORIGIN, _ORIGINS)]
_REDIS = "must be an address like redis://127.0.0.1:6379/0, rediss://user:password@host:6379/0 or unix:///path"
RedisAddress = Annotated[SecretStr, _valid(_is_redis, _REDIS)]
BrokerAddress = Annotated[SecretStr, _address("amqp", "amqps", like="amqp://user:password@host:5672/")]
WritableFolder = Annotated[
    DirectoryPath, _valid(lambda folder: os.access(folder, os.W_OK | os.X_OK), "is a folder that cannot be written")
]

OPENROUTER_MODEL: Final = "google/gemma-3n-e2b-it:free"
LOCAL_SERVERS: Final = {"ollama": "http://127.0.0.1:11434/v1", "llama-cpp": "http://127.0.0.1:8080/v1"}
"""Local model servers, and the addresses they listen on by default."""
LISTED_MODEL: Final = "default"
"""The default LLM_MODEL of a local server: the first model that it lists."""
# Without a GPU a local server reads 50 to 200 tokens a second: a prompt takes half a minute or more.
LOCAL_TIMEOUT_S: Final = 300
REWRITING_S: Final = 3
LOCAL_REWRITING_S: Final = 30
