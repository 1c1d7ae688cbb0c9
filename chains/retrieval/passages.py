"""A question -> passages: the verb of stage 1, around any retriever of LangChain."""

from collections.abc import Iterable
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from chains.retrieval.filters import filters_of
from chains.retrieval.retriever import SCORE
from chains.state import Passage, Question, check_question


def passage(document: Document) -> Passage:
    """Return a retrieved document as plain data, its score taken out of the metadata."""
    metadata = dict(document.metadata)
    score = min(1.0, max(0.0, float(metadata.pop(SCORE, 0.0))))
    return Passage(content=document.page_content, metadata=metadata, score=round(score, 6))


def retrieve(retriever: BaseRetriever) -> Runnable[Question, list[Passage]]:
    """Return the verb of stage 1: ask `retriever`, with the question's own `top_k` and `threshold` where it has them.

    What the call's filters do not allow is dropped even when the retriever, or a cache in it, did not heed them; so is
    a text that has come before.

    Raises:
        QuestionError: the question is empty, too long, or no text.
        ConfigurationError: the config names an audience that there is not.
    """

    def search(state: Question, config: RunnableConfig) -> list[Passage]:
        question = check_question(state.get("question"))
        return _passages(retriever.invoke(question, config, **_limits(state, retriever)), config)

    async def asearch(state: Question, config: RunnableConfig) -> list[Passage]:
        question = check_question(state.get("question"))
        return _passages(await retriever.ainvoke(question, config, **_limits(state, retriever)), config)

    return RunnableLambda(search, afunc=asearch, name="search")


def _passages(found: Iterable[Document], config: RunnableConfig) -> list[Passage]:
    filters = filters_of(config)
    unique: dict[str, Document] = {}
    for document in found:
        if filters.allow(document.metadata):
            unique.setdefault(document.page_content.strip(), document)
    return [passage(document) for document in unique.values()]


def _limits(state: Question, retriever: BaseRetriever) -> dict[str, Any]:
    # A foreign retriever may know neither option; it then answers with its own.
    known = type(retriever).model_fields
    return {name: state[name] for name in ("top_k", "threshold") if name in known and state.get(name) is not None}
