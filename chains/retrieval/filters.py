"""Which chunks a call may see: filters read from its RunnableConfig."""

from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import ConfigurableFieldSpec, RunnableConfig

from chains.audience import Audience, audience_in, audience_of
from chains.errors import ConfigurationError

FILTER_SPECS = [
    ConfigurableFieldSpec(
        "audience", Audience, description="Whose documents are searched; by default the caller's.", is_shared=True
    ),
    ConfigurableFieldSpec("category", str | None, description="Only documents of this category.", is_shared=True),
    ConfigurableFieldSpec("jurisdiction", str | None, description="Only documents of this country.", is_shared=True),
]


@dataclass(frozen=True, slots=True)
class Filters:
    """What a call may see: all chunks or the public ones, optionally of one category and one jurisdiction.

    Categories and jurisdictions have to equal those of the document exactly. A chunk without an audience is internal.
    """

    audience: Audience = "internal"
    category: str | None = None
    jurisdiction: str | None = None

    def where(self) -> dict[str, str]:
        """Return the metadata values that a chunk must have, by name; empty for a call that may see everything."""
        wanted = {
            "audience": "public" if self.audience == "public" else None,
            "category": self.category,
            "jurisdiction": self.jurisdiction,
        }
        return {name: value for name, value in wanted.items() if value is not None}

    def allow(self, metadata: dict[str, Any]) -> bool:
        """Return whether the call may see a chunk with this metadata."""
        seen = {**metadata, "audience": audience_of(metadata)}
        return all(seen.get(name) == value for name, value in self.where().items())


def filters_of(config: RunnableConfig | None) -> Filters:
    """Return the filters in the config's `configurable`: `audience`, `category`, `jurisdiction`.

    Raises:
        ConfigurationError: the audience is unknown, or a category or jurisdiction is not text.
    """
    given = (config or {}).get("configurable") or {}
    return Filters(audience_in(config), _text(given, "category"), _text(given, "jurisdiction"))


def _text(given: dict[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is None or isinstance(value, str):
        return value
    msg = f"{name}={value!r} must be text"
    raise ConfigurationError(msg)
