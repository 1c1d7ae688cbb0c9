"""Build the scope gate, which declines out-of-scope questions, from the scope files of the ingested folders."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from langchain_core.embeddings import Embeddings
from langchain_core.runnables import Runnable, RunnableConfig

from app.adapters.embeddings.cached import DiskCachedEmbeddings
from app.ledger.passages import Passages
from app.settings import Settings
from app.wiring.models import embedding_label
from app.wiring.storage import sample_corpus
from chains.errors import ConfigurationError
from chains.ingestion.files import Problem, real_path
from chains.regular_files import read_text
from chains.retrieval.filters import filters_of
from chains.scope import SCOPE_FILE, CurrentScope, ScopeGate, load_scope, parse_scope
from chains.state import Redirect, Searching

OFF = "off"  # SCOPE_FILE, where no question is declined.


def scope_gate(
    settings: Settings, embeddings: Embeddings, index: Callable[[], Passages]
) -> Runnable[Searching, Redirect | None] | None:
    """Return the scope gate; None if it is off.

    It uses SCOPE_FILE, or else the scope files of the folders in the index. Raise ConfigurationError if SCOPE_FILE is
    not readable or invalid.
    """
    if settings.retrieval.scope_file == OFF:
        return None
    cached = DiskCachedEmbeddings(embeddings, model=embedding_label(settings))
    file = settings.retrieval.scope_file
    of_file = None if file is None else [ScopeGate(load_scope(Path(file)), cached)]

    @lru_cache(maxsize=1)
    def gates(contents: Passages) -> list[ScopeGate]:
        return [ScopeGate(parse_scope(text, root), cached) for root, text in in_force(contents).items()]

    def is_held(word: str, config: RunnableConfig | None) -> bool:
        return bool(index().search(word, 1, filters_of(config).where()))

    return CurrentScope(lambda: gates(index()) if of_file is None else of_file, is_held)


def in_force(contents: Passages) -> dict[str, str]:
    """Return the scope files by folder; none if any folder lacks one, because it may answer anything.

    That of the sample corpus counts only while the index holds nothing else.
    """
    sample, scopes = str(sample_corpus().resolve()), contents.scopes()
    scopes = {root: text for root, text in scopes.items() if root != sample} or scopes
    return {} if None in scopes.values() else {root: text for root, text in scopes.items() if text}


def describe_scope(settings: Settings, contents: Passages) -> str:
    """Return a sentence on which questions are declined before the search."""
    if settings.retrieval.scope_file == OFF:
        return "SCOPE_FILE=off: no question is declined before the search"
    if settings.retrieval.scope_file is not None:
        return f"questions are declined before the search by SCOPE_FILE={settings.retrieval.scope_file}"
    if found := in_force(contents):
        files = ", ".join(str(Path(root, SCOPE_FILE)) for root in sorted(found))
        return f"questions are declined before the search by {files}"
    without = next((root for root, text in sorted(contents.scopes().items()) if text is None), None)
    reason = f": {without} has no {SCOPE_FILE}" if without else ""
    return f"no question is declined before the search{reason}"


def read_scopes(
    paths: Sequence[Path], roots: set[str], known: dict[str, str | None]
) -> tuple[dict[str, str | None], list[Problem]]:
    """Return the texts of the scope files of the index, and their problems.

    Args:
        paths: what is ingested now; a scope file applies to its folder.
        roots: the folders that documents of the index came from.
        known: the texts so far, kept for folders that are not ingested now or whose file is invalid.
    """
    given = {str(folder_of(path)) for path in paths}
    found, problems = dict.fromkeys(sorted(roots)), []
    for root in found:
        found[root] = known.get(root)
        file = Path(root, SCOPE_FILE)
        try:
            if root in given:
                found[root] = read_text(file) if file.is_file() and load_scope(file) else None
        except ConfigurationError as error:
            problems.append(Problem(SCOPE_FILE, str(error)))
    return found, problems


def folder_of(path: Path) -> Path:
    real = real_path(path)
    return real if real.is_dir() else real.parent
