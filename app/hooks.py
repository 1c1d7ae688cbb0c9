"""What can be plugged in, by name: this program's own parts and those of packages that others install.

A part is an entry point (https://packaging.python.org/specifications/entry-points) of a group `waypoint.KIND`.
pyproject.toml lists what is built in; another package lists its parts in its own pyproject.toml, in the same way. Where
both have a part of one name, the other package's is taken. `examples/plugin` is such a package.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from chains.errors import ConfigurationError

DISTRIBUTION = "waypoint-copilot"
KINDS = {
    "vectors": "VECTOR_STORE_TYPE: (settings) -> VectorIndex, or None where the ledger searches its own vectors",
    "embeddings": "EMBEDDING_PROVIDER: (settings, clock) -> Embeddings",
    "models": "LLM_PROVIDER: (settings) -> BaseChatModel, which raises the errors of chains.errors and retries nothing",
    "readers": "a file name's ending, without its dot: (path) -> SourceText",
    "sources": "an address's scheme: (settings, address, endings) -> OpenedSource",
    "retrieval": "RETRIEVER_TYPE: (settings, store, words, model) -> ChunkRetriever",
    "confidence": "CONFIDENCE_STRATEGY: (settings) -> ConfidenceStrategy",
    "checks": "injection: () -> Scanner; pii: (text) -> Redacted; pii_entities: (text) -> list[Entity]",
    "routes": "(service) -> APIRouter",
    "commands": "a function that Typer takes as `waypoint NAME`",
    "observers": "(service) -> Observer of every call of the chain",
}

_WING = re.compile(r"\bapp\.wings\.(\w+)")


class LeftOutError(ConfigurationError):
    """The folder of a wing is not part of this installation."""


def names(kind: str) -> list[str]:
    return sorted(_parts(kind))


def load(kind: str, name: str) -> Any:
    """Import a part.

    Raise LeftOutError if the folder of its wing is not part of this installation; ConfigurationError if nobody offers
    it, or a package that it needs is not installed.
    """
    if name not in _parts(kind):
        msg = f"no installed package offers {name!r} among the {kind}; there are {', '.join(names(kind))}"
        raise ConfigurationError(msg)
    return _loaded(_parts(kind)[name])


def _loaded(part: EntryPoint) -> Any:
    """Import a part; the error for a package that is missing says what to install: a wing's extra has its name."""
    try:
        return part.load()
    except ModuleNotFoundError as error:
        wing, needs = _WING.search(part.value), f"needs the package {error.name}"
        if wing and wing[0] in str(error.name):
            left_out = f"the folder of `{wing[1]}` was left out of it"
            raise LeftOutError(f"{part.name!r} is not part of this installation: {left_out}") from error
        if wing:
            raise ConfigurationError(f"{part.name!r} {needs}: pip install '{DISTRIBUTION}[{wing[1]}]'") from error
        package = part.dist.name if part.dist else part.value
        raise ConfigurationError(f"{part.name!r} of {package} {needs}, which is not installed") from error


def each(kind: str) -> Iterator[Any]:
    """Import every part of a kind but those of wings that were left out.

    Raise ConfigurationError if a package that one needs is not installed.
    """
    for name in names(kind):
        with suppress(LeftOutError):
            yield load(kind, name)


def wing(place: str) -> Any:
    """Import what a wing has for the rest of this program, like `events.plugin:outbox`.

    Raise LeftOutError if the folder of the wing is not part of this installation; ConfigurationError if a package that
    it needs is not installed.
    """
    return own(f"wings.{place}", place.partition(".")[0])


def own(place: str, name: str) -> Any:
    """Import a part of this program by its place; errors are those of `wing`, which call it by its name."""
    return _loaded(EntryPoint(name, f"{__package__}.{place}", "own"))


def wings(*places: str) -> Iterator[Any]:
    """Import these parts of wings, but those of wings that were left out.

    Raise ConfigurationError if a package that one needs is not installed.
    """
    for place in places:
        with suppress(LeftOutError):
            yield wing(place)


@contextmanager
def from_extra(name: str, needed_for: str) -> Iterator[None]:
    """Import packages of an extra in the body.

    Raise ConfigurationError if one is not installed; the message names what needs it, and the extra.
    """
    try:
        yield
    except ImportError as error:
        msg = f"{needed_for} needs the package {error.name}: pip install '{DISTRIBUTION}[{name}]'"
        raise ConfigurationError(msg) from error


@cache
def _parts(kind: str) -> dict[str, EntryPoint]:
    every = _installed().select(group=f"waypoint.{kind}")
    ours_first = sorted(every, key=lambda part: part.dist is None or part.dist.name != DISTRIBUTION)
    return {part.name: part for part in ours_first}


@cache
def _installed() -> Any:  # EntryPoints; Python 3.11 returns an older kind with the same `select`.
    return entry_points()  # Once: it reads a file of every installed package.
