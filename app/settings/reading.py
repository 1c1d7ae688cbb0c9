"""Read the settings. An invalid value stops the program; a variable that nothing reads is named with the one meant."""

import os
import re
from difflib import get_close_matches
from pathlib import Path
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


# Prefixes and names of this program's variables; others may belong to any program.
_OUR_PREFIXES = re.compile(
    r"(?:LLM|EMBEDDING|RETRIEVAL|RETRIEVER|RELEVANCE|MMR|RERANK(?:ER|ING)?|CHUNK|CITATION|CONFIDENCE|SAFETY|MODERATION|"
    r"SCOPE|CACHE|EVENTS|RATE_LIMIT|OPENROUTER|PRIMARY_MODEL|ENABLE_QUERY)_?"
)
# Names that similar programs use, and ours.
_MEANT = {
    **dict.fromkeys(("TOP_K", "RETRIEVER_TOP_K", "RETRIEVER_K", "SIMILARITY_TOP_K"), "RETRIEVAL_TOP_K"),
    **dict.fromkeys(("SCORE_THRESHOLD", "SIMILARITY_THRESHOLD", "RETRIEVAL_THRESHOLD"), "RELEVANCE_THRESHOLD"),
    **dict.fromkeys(("CHROMA_COLLECTION_NAME", "CHROMA_COLLECTION"), "COLLECTION_NAME"),
    **dict.fromkeys(("CHROMA_PERSIST_DIRECTORY", "CHROMA_PERSIST_DIR", "CHROMA_DB_PATH"), "CHROMA_PATH"),
    **dict.fromkeys(("OPENAI_BASE_URL", "OPENAI_API_BASE"), "LLM_BASE_URL with LLM_PROVIDER=openai-compatible"),
    "OPENAI_API_KEY": "LLM_API_KEY with LLM_PROVIDER=openai-compatible and LLM_BASE_URL",
    **dict.fromkeys(("OPENAI_MODEL", "GROQ_MODEL", "OPENROUTER_MODEL", "MODEL_NAME"), "LLM_MODEL"),
    "TEMPERATURE": "LLM_TEMPERATURE",
    "MAX_TOKENS": "LLM_MAX_TOKENS",
    **dict.fromkeys(("RERANK_ENABLED", "ENABLE_RERANKING", "RERANKER_ENABLED"), "RETRIEVER_TYPE"),
    **dict.fromkeys(("VECTOR_STORE", "VECTORSTORE_TYPE"), "VECTOR_STORE_TYPE"),
    **dict.fromkeys(("REDIS_PASSWORD", "REDIS_DB"), "REDIS_URL"),
    **dict.fromkeys(("RABBITMQ_USER", "RABBITMQ_PASSWORD", "RABBITMQ_VHOST"), "RABBITMQ_URL"),
    "LOGLEVEL": "LOG_LEVEL",
    **dict.fromkeys(("EVENTS_BACKEND", "EVENTS_PATH", "SESSION_BACKEND"), "the ledger: CHROMA_PATH or DATABASE_URL"),
    **dict.fromkeys(("ANSWER_LOG_PATH", "FEEDBACK_PATH"), "the ledger: CHROMA_PATH or DATABASE_URL"),
    "REDIS_TIMEOUT_S": "the ledger: CACHE_BACKEND=ledger",
    "FEEDBACK_MAX_MB": "ANSWER_LOG_MAX_MB",
}
_ASSIGNMENT = re.compile(r"^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=", re.MULTILINE)


def unused_variables() -> dict[str, str | None]:
    """Return each variable that is set but not read, with the setting that was probably meant, or None."""
    known = {name.upper() for name in fields()}
    for field in fields().values():
        known |= {str(name).upper() for name in getattr(field.validation_alias, "choices", ())}
    environment = {name for name in os.environ if name in _MEANT or _OUR_PREFIXES.match(name)}  # noqa: TID251 - read to warn.
    unread = sorted({name.upper() for name in environment | _written()} - known)
    return {name: _MEANT.get(name) or _nearest(name, known) for name in unread}


def unused_warning() -> str | None:
    """Return one line that names all unused variables and the right names; None if there are none."""
    names = [f"{name} (use {meant})" if meant else name for name, meant in unused_variables().items()]
    return ", ".join(names) or None


def _nearest(name: str, known: set[str]) -> str | None:
    return next(iter(get_close_matches(name, sorted(known), n=1, cutoff=0.85)), None)


def _written() -> set[str]:
    file = Path(".env")
    return set(_ASSIGNMENT.findall(file.read_text(encoding="utf-8"))) if file.is_file() else set()
