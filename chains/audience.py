"""Who may see a document, and which category its folder stands for: the one map for ingestion, retrieval, citations."""

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from langchain_core.runnables import RunnableConfig

from chains.errors import ConfigurationError

Audience = Literal["public", "internal"]

INTERNAL = "internal"
# Folders of a knowledge base and the categories they stand for. A folder may also bear the category's own name.
CATEGORIES = {
    "01_regulatory": "regulatory",
    "02_carriers": "carrier",
    "03_reference": "reference",
    "04_internal_synthetic": INTERNAL,
}
_KNOWN = {**CATEGORIES, **{category: category for category in CATEGORIES.values()}}
# A source type that begins with one of these marks an internal document: "internal_memo", "synthetic_internal".
_INTERNAL_SOURCES = ("internal", "synthetic_internal")


def category_of(names: Iterable[object]) -> str | None:
    """Return the category that the names of folders, outermost first, or a stated category stand for.

    Upper and lower case are equal. `internal` wins wherever it stands; else the innermost known name decides. None
    means that no name is known.
    """
    known = [_KNOWN[name] for name in map(_normal, names) if name in _KNOWN]
    return INTERNAL if INTERNAL in known else next(reversed(known), None)


def audience_of(
    metadata: Mapping[str, Any], *, folders: Iterable[str] = (), unstated: Audience = "internal"
) -> Audience:
    """Return who may see a document with this metadata, which lies in these folders.

    A stated `audience` decides: `public` in any case, and every other word means internal. Without one the document is
    internal if its category, its source type or one of its folders says so. If nothing says anything, it is `unstated`.
    """
    if stated := _normal(metadata.get("audience")):
        return "public" if stated == "public" else "internal"
    path = str(metadata.get("file_path") or "").replace("\\", "/").split("/")
    if category_of([metadata.get("category"), *folders, *path]) == INTERNAL:
        return "internal"
    source = _normal(metadata.get("source_type")).replace(" ", "_").replace("-", "_")
    return "internal" if source.startswith(_INTERNAL_SOURCES) else unstated


def audience_in(config: RunnableConfig | None) -> Audience:
    """Return the `audience` in the config's `configurable`: which documents the call may see.

    The default is `internal`, because the command line is for the staff. The HTTP routes set the audience from the
    caller's identity. LangServe's clients cannot set it: no `configurable` key is open to them.

    Raises:
        ConfigurationError: there is no such audience.
    """
    audience: Audience = ((config or {}).get("configurable") or {}).get("audience", "internal")
    if audience not in get_args(Audience):
        msg = f"audience={audience!r} is not one of {', '.join(get_args(Audience))}"
        raise ConfigurationError(msg)
    return audience


def _normal(value: object) -> str:
    return unicodedata.normalize("NFKC", str(value or "")).strip().casefold()
