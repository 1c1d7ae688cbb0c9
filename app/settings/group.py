"""What every group of settings has in common: `.env`, the names of its variables, words in any case."""

from collections.abc import Iterator
from typing import Any, Self, get_args

from pydantic import AliasChoices, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class Group(BaseSettings):
    """Settings of one subject: a plain `BaseSettings`, read from the environment and `.env`.

    The variable of a field is the group's `env_prefix` and the field's name, unless its alias says another. A field
    with `exclude` is another program's name for something that has a setting: it is read, and not listed.
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
    def variables(cls) -> dict[str, str]:
        """Return the name of each field by its variable, in lower case."""
        return {cls.names_of(name)[0]: name for name in cls.model_fields}

    @classmethod
    def names_of(cls, field: str) -> list[str]:
        """Return the variables that set a field, in lower case; the first is its own."""
        alias = cls.model_fields[field].validation_alias
        if isinstance(alias, AliasChoices):
            return [str(name) for name in alias.choices]
        return [str(alias or f"{cls.model_config.get('env_prefix', '')}{field}")]

    @classmethod
    def variable_of(cls, place: str) -> str:
        """Return the variable that an error of this group means by a field's name or an alias."""
        field = cls.model_fields.get(place)
        return place if field is None or field.validation_alias else cls.names_of(place)[0]

    def contradictions(self) -> Iterator[str]:
        """Yield what does not fit together, in words; nothing where all does."""
        yield from ()

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for reason in self.contradictions():
            raise ValueError(reason)
        return self

    @field_validator("*", mode="before", check_fields=False)
    @classmethod
    def _any_case(cls, value: object, info: ValidationInfo) -> object:
        """Ignore case in settings with a fixed set of words."""
        word = value.strip().lower() if isinstance(value, str) else None
        parts = get_args(cls.model_fields[info.field_name or ""].annotation)
        words = {word for part in parts for word in (get_args(part) or (part,))}  # Of a Literal, also an optional one.
        return word if word and word in words else value


def address_of_host(values: Any, prefix: str, port: int, form: str) -> Any:
    """Return the raw values with the address of a server of which only host and port are set."""
    host = values.get(f"{prefix}host")
    if not host or values.get(f"{prefix}url"):
        return values
    return values | {f"{prefix}url": form.format(host, values.get(f"{prefix}port") or port)}
