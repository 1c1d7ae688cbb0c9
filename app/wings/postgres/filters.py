"""Metadata values that chunks have to have, as a condition in SQL."""

from collections.abc import Mapping

# These have columns of their own, with indexes; others are looked up in the metadata.
COLUMNS = ("audience", "category", "jurisdiction")


def condition(where: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return the condition on a table `chunks`, and its values; without any, one that is always true."""
    terms, values = [], {}
    for place, (name, value) in enumerate(where.items()):
        if name in COLUMNS:
            terms.append(f"chunks.{name} = :value{place}")
        else:
            terms.append(f"chunks.metadata ->> :name{place} = :value{place}")
            values[f"name{place}"] = name
        values[f"value{place}"] = value
    return " AND ".join(terms) or "true", values
