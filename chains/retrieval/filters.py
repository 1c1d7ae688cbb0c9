"""Filters of one question: fields of the documents' metadata by a value, by one of several, or by a range of dates.

`{"category": "carrier", "jurisdiction": ["SG", "ID"], "last_updated": {"from": "2024-01", "to": "2024-06-30"}}`. All
have to hold, beside the audience of the call, which no filter widens.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

from langchain_core.runnables import ConfigurableFieldSpec, RunnableConfig
from pydantic import WithJsonSchema

from chains.documents.audience import Audience, audience_in, audience_of, configurable_of
from chains.errors import ConfigurationError, QuestionError
from chains.ports import ChunkStore

MOST_FIELDS, MOST_VALUES, LONGEST_VALUE = 10, 50, 200
# Metadata of a passage's place and of its making; nobody asks for documents by them.
_OF_A_PASSAGE = frozenset(
    {"chunk_index", "start_char", "end_char", "section", "section_path", "page", "table_head", "context"}
    | {"content_hash", "file_path", "source_urls", "superseded", "score", "rank", "fused_score"}
)
_DATE = re.compile(r"[0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?")
_VALUE = {"type": "string", "maxLength": LONGEST_VALUE}
_DAY = {"type": "string", "pattern": f"^{_DATE.pattern}$", "examples": ["2024-01-31", "2024-01", "2024"]}
_CONDITION = [
    _VALUE,
    {"type": "array", "items": _VALUE, "minItems": 1, "maxItems": MOST_VALUES},
    {"type": "object", "properties": {"from": _DAY, "to": _DAY}, "minProperties": 1, "additionalProperties": False},
]
QuestionFilters = Annotated[
    dict[str, Any] | None,
    WithJsonSchema(
        {
            "type": ["object", "null"],
            "additionalProperties": {"anyOf": _CONDITION},
            "maxProperties": MOST_FIELDS,
            "description": "Only documents whose metadata fits: a value, a list of values, or a range of dates for "
            'each field, such as {"category": "carrier", "last_updated": {"from": "2024-01-01"}}. Leave it out where '
            "the question names none.",
            "examples": [{"category": "carrier", "jurisdiction": ["SG", "ID"], "last_updated": {"from": "2024-01"}}],
        }
    ),
]
"""What a client or a model may write; `conditions_of` checks it, when the question is searched for."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What a field has to be: one of the `values`, in any case, or a date from `since` to `until`, both included."""

    field: str
    values: tuple[str, ...] = ()
    since: str = "0000"
    until: str = "9999"

    @property
    def given(self) -> list[str] | dict[str, str]:
        return list(self.values) or {"from": self.since, "to": self.until}

    def allows(self, metadata: Mapping[str, Any]) -> bool:
        """Return whether a document with this metadata meets it; `SG, ID` is also each of its parts."""
        stated = str(metadata.get(self.field) or "").casefold()
        if self.values:
            return any(value in self.values for value in (stated, *stated.split(", ")))
        return bool(_DATE.fullmatch(stated)) and stated >= self.since and stated[: len(self.until)] <= self.until


def conditions_of(given: object) -> tuple[Condition, ...]:
    """Return the conditions that a caller's filters state; QuestionError where they are not written as above."""
    if given is None:
        return ()
    if not isinstance(given, Mapping) or len(given) > MOST_FIELDS:
        msg = f"filters must be an object of at most {MOST_FIELDS} fields, such as {{'category': 'carrier'}}"
        raise QuestionError(msg)
    return tuple(_condition(str(field), wanted) for field, wanted in given.items())


def _condition(field: str, wanted: object) -> Condition:
    if isinstance(wanted, Mapping):
        if (
            wanted
            and wanted.keys() <= {"from", "to"}
            and all(isinstance(day, str) and _DATE.fullmatch(day) for day in wanted.values())
        ):
            return Condition(field, since=wanted.get("from", "0000"), until=wanted.get("to", "9999"))
        raise QuestionError(f"filters: {field!r} must be {{'from': '2024-01-31', 'to': '2024-12'}}, or one of the two")
    values = wanted if isinstance(wanted, list | tuple) else [wanted]
    texts = tuple(value.casefold() for value in values if isinstance(value, str) and len(value) <= LONGEST_VALUE)
    if not 0 < len(values) <= MOST_VALUES or len(texts) < len(values):
        raise QuestionError(f"filters: {field!r} must be text, a list of 1 to {MOST_VALUES} texts, or a range of dates")
    return Condition(field, values=texts)


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
    conditions: tuple[Condition, ...] = ()

    def where(self) -> dict[str, str]:
        """Return the metadata values that a chunk must have, by name; empty for a call that may see everything."""
        wanted = {
            "audience": "public" if self.audience == "public" else None,
            "category": self.category,
            "jurisdiction": self.jurisdiction,
        }
        return {name: value for name, value in wanted.items() if value is not None}

    def allow(self, metadata: dict[str, Any]) -> bool:
        seen = {**metadata, "audience": audience_of(metadata)}
        return all(seen.get(name) == value for name, value in self.where().items()) and all(
            condition.allows(seen) for condition in self.conditions
        )


def filters_of(config: RunnableConfig | None, asked: object = None) -> Filters:
    """Return the filters in the config's `configurable`, and those `asked` for, as `conditions_of` reads them.

    Raises ConfigurationError where the audience is unknown, or a category or jurisdiction is not text.
    """
    given = configurable_of(config)
    wanted = {name: given.get(name) for name in ("category", "jurisdiction")}
    for name, value in wanted.items():
        if value is not None and not isinstance(value, str):
            raise ConfigurationError(f"{name}={value!r} must be text")
    return Filters(audience_in(config), **wanted, conditions=conditions_of(asked))


class FieldIndex:
    """Which passages of one state of an index filters leave, by the metadata of its documents' first passages."""

    def __init__(self, index: ChunkStore) -> None:
        self._index = index

    @cached_property
    def _metadata(self) -> dict[str, dict[str, Any]]:
        first = {row[2]: row[0] for row in self._index.documents()}
        return {first[str(one.id)]: one.metadata for one in self._index.get_by_ids(list(first))}

    def ids(self, filters: Filters) -> list[str]:
        """Return the ids of the passages that the filters leave; QuestionError for a field that no document has."""
        seen = [metadata for metadata in self._metadata.values() if replace(filters, conditions=()).allow(metadata)]
        check_known(filters.conditions, sorted({name for metadata in seen for name in metadata} - _OF_A_PASSAGE))
        allowed = [document for document, metadata in self._metadata.items() if filters.allow(metadata)]
        return [id_ for document in allowed for id_ in self._index.chunks_of(document)]


def check_known(conditions: Sequence[Condition], known: Collection[str]) -> None:
    """Raise QuestionError for a field that the documents do not have."""
    for condition in conditions:
        if condition.field not in known:
            msg = f"filters: {condition.field!r} is no field of the documents; they have {', '.join(known) or 'none'}"
            raise QuestionError(msg)
