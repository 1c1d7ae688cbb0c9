"""What the chain was tried with, the examples, and the tree of a trace: for docs/reuse.md and docs/debugging.md."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers.context import collect_runs
from langchain_core.tracers.schemas import Run

from app.settings import load_settings
from app.wiring.chain import safety_of
from benchmarks.tables import table
from chains import build_chain

ROOT = Path(__file__).parents[1]
LOCK, EXAMPLES = ROOT / "requirements-dev.lock", ROOT / "examples"
# Package, what was tried with it, and the tests that hold it.
TRIED = (
    ("langchain", "`create_agent` with the chain as a tool", "tests/service/test_agents.py"),
    ("langchain", "`CitationMiddleware`: two tools, threads, a supervisor", "tests/chains/test_agent_citations.py"),
    ("langchain-groq", "ChatGroq as the model of agent and chain", "tests/service/test_agents.py"),
    ("langgraph", "node of a graph as function and object, `stream_mode` messages", "tests/chains/test_reuse.py"),
    ("langgraph", "`build_graph` with a checkpointer", "tests/chains/test_answer_graph.py"),
    ("openai", "`/v1/chat/completions` whole, streamed and awaited", "tests/app/http/routes/test_completions.py"),
    ("langchain-openai", "ChatOpenAI against it", "tests/app/http/routes/test_completions.py"),
    ("langchain-openai", "`use_responses_api=True`, whole and streamed", "tests/app/http/routes/test_responses.py"),
    ("mcp", "the SDK's client over stdio and streamable HTTP", "tests/app/wings/mcp/test_mcp.py"),
    ("langsmith", "inside of a `@traceable` function", "tests/chains/test_reuse.py"),
    ("langchain-core", "tools, batches, retries, fallbacks, collected runs", "tests/chains/test_composition.py"),
)


class Retriever(BaseRetriever):
    """Stands for a retriever in the tree of a trace."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document("The rate of GST is 9 %.", metadata={"title": "GST Guide", "section": "Rate"})]


def tried_table() -> str:
    """Return a row for each package: its version in the lock, what was tried, and where."""
    locked = dict(re.findall(r"^([\w.-]+)==([\w.]+)", LOCK.read_text(encoding="utf-8"), flags=re.MULTILINE))
    rows = [(f"`{name}`", locked[name], what, f"`{tests}`") for name, what, tests in TRIED]
    return table(("package", "version", "tried", "tests"), rows)


def examples_table() -> str:
    """Return a row for each file of examples/: its name, and its first line."""
    files = sorted(path for path in EXAMPLES.glob("*.py") if path.stem != "__init__")
    rows = [
        (
            f"`examples/{path.name}`",
            (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n")[0],
        )
        for path in files
    ]
    return table(("file", "shows"), rows)


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
