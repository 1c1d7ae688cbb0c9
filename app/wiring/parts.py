"""Parts that replace those of the settings: for tests and other programs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable

if TYPE_CHECKING:
    from app.ports import Outbox
    from chains.caching.stores import ExpiringStore


@dataclass(frozen=True)
class Parts:
    """Parts that replace those of the settings."""

    embeddings: Embeddings | None = None
    model: BaseChatModel | None = None
    chain: Runnable[Any, Any] | None = None
    outbox: "Outbox | None" = None
    cache_store: "ExpiringStore | None" = None
