"""What every group of settings has: its variables, and what it adds to the values and the checks of all."""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from pydantic import AliasChoices, BaseModel, ConfigDict
from pydantic.fields import FieldInfo


class AllSettings(Protocol):
    """What a group sees of the others."""

    @property
    def provider(self) -> str:
        """The provider in force."""

    def of_variable(self, variable: str) -> Any:
        """Return the value of a variable, in lower case; None where no installed part has it."""


class Group(BaseModel):
    """Settings of one subject. The variable of a field is `PREFIX` and the field's name, unless its alias says another.

    A wing's group is an entry point of the group `waypoint.settings`; `Settings.wing` returns it.
    """

    model_config = ConfigDict(frozen=True)

    PREFIX: ClassVar[str] = ""
    CHANGES_ANSWERS: ClassVar[bool] = True  # Of a wing's group: whether an answer depends on it.

    @classmethod
    def variables(cls) -> dict[str, str]:
        """Return the name of each field by its variable, in lower case."""
        return {_variable(field) or cls.PREFIX + name: name for name, field in cls.model_fields.items()}

    @classmethod
    def completed(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return what follows from the raw values of all variables, for those that are not set."""
        del values
        return {}

    def contradiction(self, settings: AllSettings) -> str | None:
        """Return what does not fit together, with what to do; None where everything does."""
        del settings
        return None


def _variable(field: FieldInfo) -> str | None:
    alias = field.validation_alias
    return str(alias.choices[0]) if isinstance(alias, AliasChoices) else alias if isinstance(alias, str) else None


def address_of_host(values: Mapping[str, Any], name: str, port: int, form: str) -> dict[str, Any]:
    """Return the address of a server of which only host and port are set."""
    host = values.get(f"{name}_host")
    return {f"{name}_url": form.format(host, values.get(f"{name}_port") or port)} if host else {}
