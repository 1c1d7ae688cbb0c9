"""Build the gate that declines questions which no document answers."""

from pathlib import Path

from langchain_core.embeddings import Embeddings

from app.settings import Settings
from chains.scope import SCOPE_FILE, ScopeGate, load_scope


def scope_gate(settings: Settings, embeddings: Embeddings) -> ScopeGate | None:
    """Return the gate; None where it is off, or where there is no list of such questions."""
    from app.adapters.embeddings.cached import DiskCachedEmbeddings

    file = _scope_file(settings)
    if file is None:
        return None
    return ScopeGate(load_scope(file), DiskCachedEmbeddings(embeddings, model=settings.embedding_model))


def scope_text(settings: Settings) -> str | None:
    """Return the text of the list, which cached answers depend on."""
    file = _scope_file(settings)
    return file.read_text(encoding="utf-8") if file else None


def _scope_file(settings: Settings) -> Path | None:
    file = settings.scope_file or sample_corpus() / SCOPE_FILE
    return file if settings.scope_enabled and (settings.scope_file or file.is_file()) else None


def sample_corpus() -> Path:
    """Return the folder of the sample corpus: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    inside = package / "knowledge_base"
    return inside if inside.is_dir() else package.parent / "knowledge_base"
