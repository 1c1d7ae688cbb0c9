"""What the chain was tried with, and with which versions: the table of docs/reuse.md."""

import re
from pathlib import Path

from benchmarks.tables import table

LOCK = Path(__file__).parents[1] / "requirements-dev.lock"
# Package, what was tried with it, and the tests that hold it.
TRIED = (
    ("langchain", "`create_agent` with the chain as a tool", "tests/service/test_agents.py"),
    ("langchain-groq", "ChatGroq as the model of agent and chain", "tests/service/test_agents.py"),
    ("langgraph", "node of a graph as function and object, `stream_mode` messages", "tests/chains/test_reuse.py"),
    ("openai", "`/v1/chat/completions` whole, streamed and awaited", "tests/app/http/routes/test_completions.py"),
    ("langchain-openai", "ChatOpenAI against it", "tests/app/http/routes/test_completions.py"),
    ("mcp", "the SDK's client over stdio and streamable HTTP", "tests/app/mcp/test_mcp.py"),
    ("langsmith", "inside of a `@traceable` function", "tests/chains/test_reuse.py"),
    ("langchain-core", "tools, batches, retries, fallbacks, collected runs", "tests/chains/test_composition.py"),
)


def tried_table() -> str:
    """Return a row for each package: its version in the lock, what was tried, and where."""
    locked = dict(re.findall(r"^([\w.-]+)==([\w.]+)", LOCK.read_text(encoding="utf-8"), flags=re.MULTILINE))
    rows = [(f"`{name}`", locked[name], what, f"`{tests}`") for name, what, tests in TRIED]
    return table(("package", "version", "tried", "tests"), rows)
