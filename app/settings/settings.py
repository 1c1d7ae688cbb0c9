"""All settings by their groups, and what follows from several of them."""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

from pydantic import BaseModel, ConfigDict, PrivateAttr, ValidationInfo, create_model, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, SettingsConfigDict

from app import hooks
from app.settings import answering as a
from app.settings import serving as s
from app.settings.group import Group
from app.settings.values import is_origin

GroupT = TypeVar("GroupT", bound=Group)
# The variables that say where the index is.
_PLACES = {
    "vector_store_type",
    "chroma_path",
    "chroma_host",
    "memory_store_path",
    "database_url",
    "collection_name",
    "retrieval_url",
}


class Settings(BaseModel):
    """All settings: the core's groups, and those of wings and of installed packages in `wings`."""

    model_config = ConfigDict(frozen=True)

    llm: a.LLMSettings
    embedding: a.EmbeddingSettings
    store: a.StoreSettings
    chroma: a.ChromaSettings
    retrieval: a.RetrievalSettings
    prompt: a.PromptSettings
    reformulation: a.ReformulationSettings
    citations: a.CitationSettings
    confidence: a.ConfidenceSettings
    scope: a.ScopeSettings
    safety: a.SafetySettings
    cache: s.CacheSettings
    redis: s.RedisSettings
    session: s.SessionSettings
    ingestion: s.IngestionSettings
    uploads: s.UploadSettings
    pages: s.PageSettings
    access: s.AccessSettings
    limits: s.LimitSettings
    web: s.WebSettings
    server: s.ServerSettings
    logs: s.LogSettings
    langsmith: s.LangSmithSettings
    wings: tuple[Group, ...]
    _names_index: bool = PrivateAttr(default=False)

    def __init__(self, **variables: Any) -> None:
        """Read the settings from the environment and `.env`; `variables`, in lower case, win.

        Raises:
            ValidationError: a value does not fit.
            ValueError: some do not fit together.
        """
        read = _variables()(**variables)
        made = {group: _filled(group, read) for group in _all_groups()}
        core = {name: made[group] for name, group in _core().items()}
        super().__init__(**core, wings=tuple(made[group] for group in _plugged()))
        self._names_index = bool(_PLACES & read.model_fields_set) or Path(".env").is_file()
        if reason := next(filter(None, (group.contradiction(self) for group in made.values())), None):
            raise ValueError(reason)

    def wing(self, group: type[GroupT]) -> GroupT:
        """Return the settings of a wing."""
        return next(one for one in self.wings if isinstance(one, group))

    def of_variable(self, variable: str) -> Any:
        """Return the value of a variable, in lower case; None where no installed part has it."""
        return self.as_variables([variable]).get(variable)

    def as_variables(self, names: Iterable[str] | None = None, **options: Any) -> dict[str, Any]:
        """Return the values by their variables, by default of all; `options` are those of `model_dump`."""
        found: dict[str, Any] = {}
        for group in self._groups().values():
            dumped = group.model_dump(**options)
            found |= {variable: dumped[field] for variable, field in group.variables().items()}
        return found if names is None else {name: found[name] for name in names if name in found}

    def replace(self, **variables: Any) -> "Settings":
        """Return the settings with other values, by their variables in lower case; they are not checked."""
        changed: dict[str, Any] = {}
        wings = list(self.wings)
        for name, group in self._groups().items():
            update = {field: variables[v] for v, field in group.variables().items() if v in variables}
            if update and group in wings:
                wings[wings.index(group)] = group.model_copy(update=update)
            elif update:
                changed[name] = group.model_copy(update=update)
        return self.model_copy(update={**changed, "wings": tuple(wings)})

    def _groups(self) -> dict[str, Group]:
        core = {name: getattr(self, name) for name in _core()}
        return core | {type(one).__name__: one for one in self.wings}

    @property
    def link_hosts(self) -> tuple[str, ...]:
        """Return the hosts of TRUSTED_LINK_HOSTS; none means any."""
        return tuple(self.safety.link_hosts.split(",")) if self.safety.link_hosts else ()

    @property
    def provider(self) -> str:
        """Return the provider in force: the one that is set, else that of the key that is set, else offline."""
        return self.llm.provider

    @property
    def names_index(self) -> bool:
        """Return whether there is a `.env`, or a variable says which index is asked."""
        return self._names_index

    @property
    def asks_a_server(self) -> bool:
        """Return whether the index is on a server rather than in this process."""
        in_process = {"memory": True, "chroma": self.chroma.host is None}
        return not in_process.get(self.store.kind, False)

    @property
    def open_to_others(self) -> bool:
        """Return whether others than the users of this machine may ask."""
        return self.access.mode != "none" or self.access.allow_anonymous

    @property
    def framing_origins(self) -> tuple[str, ...]:
        """Return the origins of pages that may show /embed in a frame; empty where none may."""
        origins = (self.web.frame_ancestors or self.web.cors_origins).split(",")
        named = tuple(origin.strip() for origin in origins if is_origin(origin.strip()))
        return () if "none" in named else named

    @property
    def rate(self) -> str | None:
        """Return the rate in force: the one that is set, else 60/minute where others may ask; None is no limit."""
        rate = self.access.rate_limit or ("60/minute" if self.open_to_others else "off")
        return None if rate == "off" else rate

    @property
    def has_redis_sessions(self) -> bool:
        """Return whether sessions are read from Redis, and not from an auth service."""
        return self.access.mode == "session" and self.access.auth_url is None

    @property
    def counts_in_redis(self) -> bool:
        """Return whether the questions of each caller are counted in Redis."""
        return self.rate is not None and self.access.rate_limit_backend == "redis"

    @property
    def uses_redis(self) -> bool:
        """Return whether sessions or rate limits are in Redis."""
        return self.has_redis_sessions or self.counts_in_redis


class _Variables(BaseSettings):
    """The variables as they are read, before they go into their groups."""

    model_config = SettingsConfigDict(
        env_file=".env", env_file_encoding="utf-8", env_ignore_empty=True, extra="ignore", protected_namespaces=()
    )

    @field_validator("*", mode="before", check_fields=False)
    @classmethod
    def _any_case(cls, value: object, info: ValidationInfo) -> object:
        """Ignore case in settings with a fixed set of values."""
        choices = _choices(cls.model_fields[info.field_name or ""].annotation)
        word = value.strip().lower() if isinstance(value, str) else None
        return word if word in choices else value

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Fill in what follows from other values, where it is not set."""
        made = {name: value for group in _all_groups() for name, value in group.completed(values).items()}
        return values | {name: value for name, value in made.items() if not _is_set(name, values)}


def fields() -> Mapping[str, FieldInfo]:
    """Return every setting by its variable, in lower case."""
    return _variables().model_fields


@cache
def _variables() -> type[_Variables]:
    found: dict[str, Any] = {}
    for group in _all_groups():
        for variable, name in group.variables().items():
            field = group.model_fields[name]
            found[variable] = (field.annotation, field)
    return create_model("Variables", __base__=_Variables, **found)


def _all_groups() -> list[type[Group]]:
    return [*_core().values(), *_plugged()]


@cache
def _core() -> dict[str, type[Group]]:
    fields = Settings.model_fields.items()
    return {name: cast("type[Group]", field.annotation) for name, field in fields if name != "wings"}


@cache
def _plugged() -> tuple[type[Group], ...]:
    return tuple(hooks.each("settings"))


def _filled(group: type[Group], variables: _Variables) -> Group:
    values = {name: getattr(variables, variable) for variable, name in group.variables().items()}
    return group.model_construct(**values)


def _is_set(name: str, values: Mapping[str, Any]) -> bool:
    names = {name, *getattr(fields()[name].validation_alias, "choices", ())}
    return any(values.get(str(one)) for one in names)


def _choices(annotation: object) -> set[object]:
    """Return the words of a Literal, also of an optional one."""
    parts = get_args(annotation)
    return {one for part in parts for one in (get_args(part) or (part,)) if isinstance(one, str)}
