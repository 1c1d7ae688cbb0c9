"""A program of a user, as type checkers see it: `make check` runs mypy over it, strictly. Nothing here is run.

An installed wheel has these names in `waypoint`.
"""

from collections.abc import AsyncIterator, Iterator

from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.tools import BaseTool

import chains
from chains import Answer, Question
from chains.stage import stage


async def search(question: str) -> list[Document]:
    """Find documents."""
    return [Document(question, metadata={"source": "gst.md"})]


def longest_first(state: chains.Answer) -> list[str]:
    """Order the titles."""
    return sorted((one["title"] for one in state["citations"]), key=len)


model = FakeListChatModel(responses=["It is 9 % [gst.md]."])
chain = chains.build_chain(retriever=search, model=model.with_retry(stop_after_attempt=2))
sync_chain = chains.build_chain(
    retriever=lambda question: [Document(question)],
    model=model,
    metadata={"title": "name"},
    stages={"citations": stage("ordering", titles=longest_first)},
    timeout_s=30,
)


def ask(question: str) -> str:
    """Return the answer's words, or why there are none."""
    asked: Question = {"question": question, "top_k": 3}
    answer: Answer = sync_chain.invoke(asked)
    confidence = answer["confidence"]
    level = confidence["level"] if confidence else "none"
    return f"{answer['answer']} ({level}, {[one['quote'] for one in answer['citations']]})"


def words(question: str) -> Iterator[str]:
    """Yield the words as they come; a part holds some of an answer's fields."""
    for part in sync_chain.stream({"question": question}):
        yield part.get("answer", "")


async def awords(question: str) -> AsyncIterator[str]:
    """Yield the words as they come."""
    async for part in chain.astream({"question": question}):
        yield part.get("answer", "")


def tool() -> BaseTool:
    """Return the chain as a tool."""
    return chains.as_tool(chain.with_config({"configurable": {"audience": "public"}}), name="ask_customs")
