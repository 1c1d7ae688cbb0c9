"""All settings by their groups, what follows from several of them, and how they are read.

An invalid value stops the program; a variable that nothing reads is named with the one meant.
"""

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, cast

from pydantic import ConfigDict, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from app.settings import answering as a
from app.settings import serving as s
from app.settings.values import ORIGIN, Fitting, Group
from chains.errors import ConfigurationError

# The variables that say where the index is.
PLACES = {"vector_store_type", "chroma_path", "chroma_host", "database_url", "collection_name", "retrieval_url"}
# What a question takes at most beside the language model.
BESIDE_MODEL_S = 30


class Settings(Fitting):
    """All settings: a group for each subject. `load_settings` reads them."""

    model_config = ConfigDict(frozen=True)

    llm: a.LLMSettings
    embedding: a.EmbeddingSettings
    store: a.StoreSettings
    chroma: a.ChromaSettings
    retrieval: a.RetrievalSettings
    prompt: a.PromptSettings
    citations: a.CitationSettings
    confidence: a.ConfidenceSettings
    safety: a.SafetySettings
    moderation: a.ModerationSettings
    cache: s.CacheSettings
    redis: s.RedisSettings
    database: s.DatabaseSettings
    events: s.EventSettings
    ingestion: s.IngestionSettings
    access: s.AccessSettings
    web: s.WebSettings
    logs: s.LogSettings
    langsmith: s.LangSmithSettings
    names_index: bool = False
    """Whether there is a `.env`, or a variable says which index is asked."""

    def as_variables(self, names: Iterable[str] | None = None) -> dict[str, Any]:
        given = ((variable, *_places()[variable]) for variable in names or fields())
        return {variable: getattr(getattr(self, group), field) for variable, group, field in given}

    def replace(self, **variables: Any) -> "Settings":
        """Return the settings with other values, by their variables in lower case; they are not checked."""
        changed: dict[str, dict[str, Any]] = {}
        for variable, value in variables.items():
            group, field = _places()[variable]
            changed.setdefault(group, {})[field] = value
        groups = {name: getattr(self, name).model_copy(update=update) for name, update in changed.items()}
        return self.model_copy(update=groups)

    def contradictions(self) -> Iterator[str]:
        retrieval, moderation, is_offline = self.retrieval, self.moderation, self.llm.provider == "offline"
        if retrieval.strategy == "compression" and is_offline:
            yield "RETRIEVER_TYPE=compression needs a language model; set LLM_API_KEY, or use another retriever"
        if retrieval.reranker == "llm" and is_offline:
            yield "RERANKER=llm needs a language model; set LLM_API_KEY, or use cross-encoder or a service's address"
        if self.prompt.context == "section" and retrieval.url is not None:
            yield "CONTEXT=section reads the index here; leave it out where RETRIEVAL_URL is set"
        if moderation.provider != "off" and not (moderation.api_key or moderation.uses_llm_key(self.llm)):
            yield f"MODERATION_PROVIDER={moderation.provider} needs a key in MODERATION_API_KEY"
        if self.store.kind == "postgres" and self.database.url is None:
            yield "VECTOR_STORE_TYPE=postgres needs DATABASE_URL, like postgresql://user:password@host:5432/name"

    @property
    def link_hosts(self) -> tuple[str, ...]:
        return tuple(self.safety.link_hosts.split(",")) if self.safety.link_hosts else ()

    @property
    def asks_a_server(self) -> bool:
        in_process = {"memory": True, "chroma": self.chroma.host is None}
        return not in_process.get(self.store.kind, False)

    @property
    def open_to_others(self) -> bool:
        return self.access.mode != "none" or self.access.is_public

    @property
    def framing_origins(self) -> tuple[str, ...]:
        """Return the origins of pages that may show /embed in a frame; empty where none may."""
        origins = (self.web.frame_ancestors or self.web.cors_origins).split(",")
        named = tuple(origin.strip() for origin in origins if ORIGIN.fullmatch(origin.strip()))
        return () if "none" in named else named

    @property
    def rate(self) -> str | None:
        """Return the rate in force: the one that is set, else 60/minute where others may ask; None is no limit."""
        rate = self.access.rate_limit or ("60/minute" if self.open_to_others else "off")
        return None if rate == "off" else rate

    @property
    def has_redis_sessions(self) -> bool:
        return self.access.mode == "session" and self.access.auth_url is None

    @property
    def counts_in_redis(self) -> bool:
        """Return whether the questions of each caller are counted in Redis: where REDIS_URL is set."""
        return self.rate is not None and bool({"url", "host"} & self.redis.model_fields_set)

    @property
    def uses_redis(self) -> bool:
        return self.has_redis_sessions or self.counts_in_redis

    @property
    def request_timeout_s(self) -> float:
        return self.llm.timeout_s + BESIDE_MODEL_S


def fields() -> Mapping[str, FieldInfo]:
    """Return every setting by its variable, in lower case; other programs' names for them are left out."""
    return {
        group.names_of(name)[0]: field
        for group in groups().values()
        for name, field in group.model_fields.items()
        if not field.exclude
    }


@cache
def groups() -> dict[str, type[Group]]:
    members = Settings.model_fields.items()
    return {name: cast("type[Group]", field.annotation) for name, field in members if name != "names_index"}


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
        group, field = _places()[variable]
        given[group][variable if groups()[group].model_fields[field].validation_alias else field] = value
    made = _read_groups(env_file, given)
    named = any(field in made[group].model_fields_set for group, field in map(_places().__getitem__, PLACES))
    try:
        return Settings(**made, names_index=named or Path(".env").is_file())
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
                wrong = (each for each in error.errors() if each["type"] != "default_factory_not_called")
                problems += [_explain(group, problem) for problem in wrong]  # The other only follows from it.
    except UnicodeDecodeError:
        problems = [".env is not UTF-8 text; save it in that encoding"]
    except OSError as error:
        problems = [f".env cannot be read: {error.strerror}"]
    if problems:
        raise SettingsError("\n".join(problems))
    return made


@cache
def _places() -> dict[str, tuple[str, str]]:
    return {
        variable: (name, field)
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
    field = group.model_fields[_places()[variable][1]]
    is_secret = SecretStr.__name__ in str(field.annotation) or _SUSPECT.search(str(value))
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
