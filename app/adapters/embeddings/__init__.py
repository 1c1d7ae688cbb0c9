"""Models that turn texts into vectors, and what each was trained to see before a question and before a passage.

Without it, a model of this kind still gives vectors, and finds less. Pooling is not named here: sentence-transformers
and the services read it from the model's own files.
"""

import re
from typing import Final, NamedTuple


class Prefixes(NamedTuple):
    """The texts before a question and before a passage; empty where the model wants none."""

    query: str = ""
    passage: str = ""


NO_PREFIXES: Final = Prefixes()
_SEARCH: Final = "Represent this sentence for searching relevant passages: "
# From the models' own cards.
_KNOWN: Final = (
    (re.compile(r"\be5-(?:small|base|large)(?!.*instruct)"), Prefixes("query: ", "passage: ")),
    (re.compile(r"\bbge-(?:small|base|large)-en\b"), Prefixes(_SEARCH)),
    (re.compile(r"\bmxbai-embed-large\b"), Prefixes(_SEARCH)),
    (re.compile(r"\barctic-embed-\w+-v2"), Prefixes("query: ")),
    (re.compile(r"\barctic-embed\b"), Prefixes(_SEARCH)),
    (re.compile(r"\bnomic-embed-text\b"), Prefixes("search_query: ", "search_document: ")),
)


def prefixes_for(model: str, *, query: str | None = None, passage: str | None = None) -> Prefixes:
    """Return what to put before texts for this model; `query` and `passage`, where given, take the place of its own."""
    name = model.lower().replace("_", "-")
    known = next((prefixes for pattern, prefixes in _KNOWN if pattern.search(name)), NO_PREFIXES)
    return Prefixes(known.query if query is None else query, known.passage if passage is None else passage)
