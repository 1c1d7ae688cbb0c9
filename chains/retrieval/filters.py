"""Which chunks a call may see: filters read from its RunnableConfig."""

from dataclasses import dataclass
from typing import Any, get_args

from langchain_core.runnables import RunnableConfig

from chains.audience import Audience, audience_of
from chains.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Filters:
    """What a call may see: all, or public chunks only; and, where given, one category and one jurisdiction.

    Categories and jurisdictions are compared as the documents state them. A chunk without an audience is not public.
    """

    audience: Audience = "internal"
    category: str | None = None
    jurisdiction: str | None = None

    def where(self) -> dict[str, str]:
        """Return the metadata values that a chunk has to have, by name; none for a call that may see all."""
        wanted = {
            "audience": "public" if self.audience == "public" else None,
            "category": self.category,
            "jurisdiction": self.jurisdiction,
        }
        return {name: value for name, value in wanted.items() if value is not None}

    def allow(self, metadata: dict[str, Any]) -> bool:
        """Say whether a chunk with this metadata may be seen."""
        seen = {**metadata, "audience": audience_of(metadata)}
        return all(seen.get(name) == value for name, value in self.where().items())


def filters_of(config: RunnableConfig | None) -> Filters:
    """Return the filters in the config's `configurable`: `audience`, `category`, `jurisdiction`.

    The audience is `internal` where none is given: the command line is for the staff. A route that serves others sets
    it from the caller's identity; clients of LangServe cannot, since no `configurable` key is open to them.

    Raises:
        ConfigurationError: a value is none that can be filtered by. A misspelt audience never means all.
    """
    given = (config or {}).get("configurable") or {}
    audience = given.get("audience", "internal")
    if audience not in get_args(Audience):
        msg = f"audience={audience!r} is not one of {', '.join(get_args(Audience))}"
        raise ConfigurationError(msg)
    return Filters(audience, _text(given, "category"), _text(given, "jurisdiction"))


def _text(given: dict[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is None or isinstance(value, str):
        return value
    msg = f"{name}={value!r} is no text to filter by"
    raise ConfigurationError(msg)
