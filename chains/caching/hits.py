"""Hits inside one call -> the level that its answer's metadata names."""

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig, ensure_config

from chains.caching.counts import LEVELS, LevelName


class CacheHits(BaseCallbackHandler):
    """Travels in the config of one call, and remembers what it found first at each level.

    What a call finds only because it has just put it there spared it nothing.
    """

    run_inline = True
    ignore_chain = ignore_llm = ignore_chat_model = ignore_retriever = ignore_agent = ignore_custom_event = True

    def __init__(self) -> None:
        self.found: dict[LevelName, bool] = {}


def note(level: LevelName, found: bool) -> None:
    """Remember what the running call found; LangChain keeps its config for those who are called without one."""
    hits = _hits_of(ensure_config())
    if hits:
        hits.found.setdefault(level, found)


def furthest_hit(config: RunnableConfig) -> LevelName | None:
    """Return the hit that spared the call the most; a hit at one level spares the levels before it."""
    hits = _hits_of(config)
    return next((level for level in reversed(LEVELS) if hits and hits.found.get(level)), None)


def _hits_of(config: RunnableConfig) -> CacheHits | None:
    handlers = getattr(config.get("callbacks"), "handlers", None) or []
    return next((handler for handler in reversed(handlers) if isinstance(handler, CacheHits)), None)
