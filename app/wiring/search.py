"""Search the documents without answering: for the routes and tools that give passages."""

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs

from app.wiring.build import Services
from app.wiring.safety import safe_text
from chains.callbacks import Deadline
from chains.retrieval import retrieve
from chains.state import Passage, Searching, check_question


async def search(services: Services, query: str, config: RunnableConfig, *, top_k: int) -> list[Passage]:
    """Return the passages nearest to the query that the config's audience may see, best first, however far they are.

    Personal data leaves the query before the search, as it does before an answer.

    Raises:
        QuestionError: the query is empty, too long, or no text.
        RetrievalError: the documents cannot be searched.
        DeadlineError: it took longer than REQUEST_TIMEOUT_S.
    """
    deadline = Deadline(services.settings.limits.request_timeout_s, services.clock)
    question = Searching(question=safe_text(services.settings, check_question(query)), top_k=top_k, threshold=0.0)
    return await retrieve(services.retriever).ainvoke(question, merge_configs(config, {"callbacks": [deadline]}))
