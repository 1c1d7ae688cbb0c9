"""The tree of a trace, for docs/debugging.md."""

from collections.abc import Iterator
from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers.context import collect_runs
from langchain_core.tracers.schemas import Run

from app.settings import load_settings
from app.wiring.chain import safety_of
from chains import build_chain


class Retriever(BaseRetriever):
    """Stands for a retriever in the tree of a trace."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document("The rate of GST is 9 %.", metadata={"title": "GST Guide", "section": "Rate"})]


def trace_tree() -> str:
    """Return the runs of one answer of the service, each below the one that called it, with its kind."""
    model = FakeListChatModel(responses=["It is 9 % [GST Guide > Rate]."], name="ChatModel")
    settings = load_settings(_env_file=None, llm_provider="offline")
    checks = safety_of(settings, "Answer from the documents.")
    chain = build_chain(retriever=Retriever(), model=model, scope=RunnableLambda(_in_scope, name="Gate"), safety=checks)
    with collect_runs() as runs:
        chain.invoke({"question": "What is the rate?"})
    [root] = runs.traced_runs
    return "\n".join(["```", *_lines(root, 0), "```"])


def _in_scope(_: Any) -> None:
    """Stand for a gate that lets the question pass."""


def _lines(run: Run, depth: int) -> Iterator[str]:
    yield f"{'  ' * depth}{run.name:{30 - 2 * depth}} {run.run_type}"
    for child in run.child_runs:
        yield from _lines(child, depth + 1)
