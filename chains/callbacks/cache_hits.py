"""Remember which caches answered during one call, for the answer's metadata."""

from typing import Literal, get_args

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig, ensure_config

from chains.callbacks.lookup import innermost

LevelName = Literal["embedding", "retrieval", "answer"]
LEVELS: tuple[LevelName, ...] = get_args(LevelName)


class CacheHits(BaseCallbackHandler):
    """The first lookup of one call at each level; a later hit on what the call itself stored saved nothing."""

    run_inline = True
    ignore_chain = ignore_llm = ignore_chat_model = ignore_retriever = ignore_agent = ignore_custom_event = True

    def __init__(self) -> None:
        self.found: dict[LevelName, bool] = {}


def note(level: LevelName, found: bool) -> None:
    """Remember whether the running call found something; LangChain keeps the running config in a context variable."""
    hits = innermost(ensure_config().get("callbacks"), CacheHits)
    if hits:
        hits.found.setdefault(level, found)


def furthest_hit(config: RunnableConfig) -> LevelName | None:
    """Return the hit at the highest level, which spared the levels below it."""
    hits = innermost(config.get("callbacks"), CacheHits)
    return next((level for level in reversed(LEVELS) if hits and hits.found.get(level)), None)
