"""Search the documents without answering, for routes and tools that return passages."""

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs

from app.wiring.build import Services
from app.wiring.safety import safe_text
from chains.callbacks import Deadline
from chains.retrieval import retrieve
from chains.state import Passage, Searching, check_question


async def search(services: Services, query: str, config: RunnableConfig, *, top_k: int) -> list[Passage]:
    """Return the nearest passages that the config's audience may see, best first, without a threshold.

    Personal data is removed from the query, as for an answer.

    Raises:
        QuestionError: the query is empty, too long, or no text.
        RetrievalError: the documents cannot be searched.
        DeadlineError: it took longer than REQUEST_TIMEOUT_S.
    """
    deadline = Deadline(services.settings.limits.request_timeout_s, services.clock)
    question = Searching(question=safe_text(services.settings, check_question(query)), top_k=top_k, threshold=0.0)
    return await retrieve(services.retriever).ainvoke(question, merge_configs(config, {"callbacks": [deadline]}))
