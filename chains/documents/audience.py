"""Who may see a document, and which category its folder stands for: the one map for ingestion, retrieval, citations."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal, get_args

from chains.errors import ConfigurationError
from chains.text.letters import folded, skeleton, visible
from chains.text.words import word_list

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

Audience = Literal["public", "internal"]

INTERNAL = "internal"
_CALLER: ContextVar[Audience] = ContextVar("caller_audience", default="internal")
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
# What may stand beside "internal" in a name that says nothing else: "04_internal", "Internal Documents (HR) 2024".
_BESIDE = word_list("""
    and archive base company confidential content copy data doc docs document documents file files folder for hr info
    information kb knowledge library manual manuals material materials memo memos new note notes office old only pages
    policies policy private procedure procedures restricted staff strictly synthetic team the use wiki
    """)
_INTERNAL_NAME = re.compile("(?:{0})*{1}(?:{0})*".format("|".join(map(skeleton, _BESIDE)), skeleton(INTERNAL)))
_NUMBERS = re.compile(r"\d{2,}|(?<![^\W_])\d(?![^\W_])")


def category_of(names: Iterable[object], *, below: Iterable[object] = ()) -> str | None:
    """Return the category that the names of folders, outermost first, or a stated category stand for.

    Upper and lower case, lookalike letters and invisible ones make no difference. `internal` wins wherever it stands,
    also beside numbers and words such as "documents", and anywhere in the names of folders `below` the corpus; else the
    innermost known name decides. None means that no name is known.
    """
    given = [str(name or "") for name in names]
    if any(map(_is_internal, given)) or any(skeleton(INTERNAL) in skeleton(str(name)) for name in below):
        return INTERNAL
    return next((_KNOWN[name] for name in map(_normal, reversed(given)) if name in _KNOWN), None)


def audience_of(
    metadata: Mapping[str, Any], *, folders: Iterable[str] = (), unstated: Audience = "internal"
) -> Audience:
    """Return who may see a document with this metadata, which lies in these folders.

    A stated `audience` decides: `public` in any case, and every other word means internal. Without one the document is
    internal if its category, its source type or one of its folders says so. If nothing says anything, it is `unstated`.
    """
    if stated := str(metadata.get("audience") or "").strip():
        return "public" if is_public(stated) else "internal"
    path = str(metadata.get("file_path") or "").replace("\\", "/").split("/")[:-1]
    if category_of([metadata.get("category"), *folders], below=path) == INTERNAL:
        return "internal"
    return "internal" if is_internal_source(metadata.get("source_type")) else unstated


def is_public(stated: str) -> bool:
    """Return whether a stated audience is `public`; a word that only looks like it is not."""
    return visible(stated).strip().casefold() == "public"


def is_internal_source(source_type: object) -> bool:
    return _normal(source_type).replace(" ", "_").replace("-", "_").startswith(_INTERNAL_SOURCES)


FILTERS = ("audience", "category", "jurisdiction")
# Where a graph of LangGraph, and an agent, puts its runtime in a config's `configurable`.
_RUNTIME = "__pregel_runtime"


def configurable_of(config: "RunnableConfig | None") -> Mapping[str, Any]:
    """Return the config's `configurable` with the filters of the context that an agent or a graph was run with.

    Raises ConfigurationError for a context without fields, or with another filter than `configurable`.
    """
    from langchain_core.runnables import ensure_config  # noqa: PLC0415 - What reads documents asks for no config.

    configurable = ensure_config(config).get("configurable") or {}
    context = getattr(configurable.get(_RUNTIME), "context", None)
    if context is None:
        return configurable
    if isinstance(context, str | bytes | int | float | list | tuple | set):
        raise ConfigurationError(f"the context {context!r} has no fields; pass a mapping like {{'audience': 'public'}}")
    read = context.get if isinstance(context, Mapping) else partial(getattr, context)
    given = {name: value for name in FILTERS if (value := read(name, None)) is not None}
    for name, value in given.items():
        if configurable.get(name, value) != value:
            raise ConfigurationError(f"{name} is {value!r} in the context and {configurable[name]!r} in `configurable`")
    return {**configurable, **given}


def audience_in(config: "RunnableConfig | None") -> Audience:
    """Return the `audience` in the config's `configurable`, or a graph's context: which documents the call may see.

    The default is the caller's (`caller_audience`). LangServe's clients cannot set it: no `configurable` key is open
    to them. ConfigurationError where there is no such audience.
    """
    audience: Audience = configurable_of(config).get("audience", _CALLER.get())
    if audience not in get_args(Audience):
        raise ConfigurationError(f"audience={audience!r} is not one of {', '.join(get_args(Audience))}")
    return audience


def caller_audience() -> Audience:
    """Return the audience of the HTTP request that this code runs for; `internal` outside of requests."""
    return _CALLER.get()


@contextmanager
def called_by(audience: Audience) -> Iterator[None]:
    """Make an audience the default of all that runs inside, also in the threads and tasks that it starts."""
    token = _CALLER.set(audience)
    try:
        yield
    finally:
        _CALLER.reset(token)


def called_for(audience: Audience | None) -> AbstractContextManager[None]:
    """Make an audience the default of all that runs inside, unless there is none or the caller's is narrower."""
    return nullcontext() if audience is None or caller_audience() == "public" else called_by(audience)


@lru_cache(maxsize=1 << 12)
def _is_internal(name: str) -> bool:
    words = _NUMBERS.sub(" ", folded(name))
    return name != "" and _INTERNAL_NAME.fullmatch(skeleton(words)) is not None


def _normal(value: object) -> str:
    return folded(str(value or "")).strip()
