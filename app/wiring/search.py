"""Search the documents without answering: for the routes and tools that give passages."""

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs

from app.wiring.build import Services
from chains.callbacks import Deadline
from chains.retrieval import retrieve
from chains.state import Passage, Searching


async def search(services: Services, query: str, config: RunnableConfig, *, top_k: int) -> list[Passage]:
    """Return the passages nearest to the query that the config's audience may see, best first, however far they are.

    Raises:
        RetrievalError: the documents cannot be searched.
        DeadlineError: it took longer than REQUEST_TIMEOUT_S.
    """
    deadline = Deadline(services.settings.request_timeout_s, services.clock)
    question = Searching(question=query, top_k=top_k, threshold=0.0)
    return await retrieve(services.retriever).ainvoke(question, merge_configs(config, {"callbacks": [deadline]}))
