"""Text that README and docs take from the code and from docs/figures.json; `make docs` writes it into them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers.context import collect_runs
from langchain_core.tracers.schemas import Run

import chains
from app.settings import load_settings
from app.wiring.chain import safety_of
from benchmarks.figures import read_figures, told
from benchmarks.house import house_table
from benchmarks.tables import table
from chains import STAGES, build_chain


class AnyRetriever(BaseRetriever):
    """Stands for a retriever in the diagram of the chain, and in the tree of a trace."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document("The rate of GST is 9 %.", metadata={"title": "GST Guide", "section": "Rate"})]


class AnyChatModel(FakeListChatModel):
    """Stands for a chat model in the diagram of the chain."""


def first_answer() -> str:
    shown = read_figures()["first_answer"]["values"]
    return f'```console\n$ make ask Q="{shown["question"]}"\n{shown["output"]}\n```'


def chain_diagram() -> str:
    """Return the chain as LangChain draws it, for a renderer of Mermaid."""
    chain = build_chain(retriever=AnyRetriever(), model=AnyChatModel(responses=[]))
    return f"```mermaid\n{chain.get_graph().draw_mermaid().strip()}\n```"


def stage_table() -> str:
    """Return a row for each stage: its name, what it does, and where it is."""
    lines = dict(line.split(None, 1) for line in (chains.__doc__ or "").splitlines() if line.startswith(STAGES))
    rows = [(f"`{name}`", lines[name], f"`{_place(name)}`") for name in STAGES]
    return table(("stage", "does", "module"), rows)


def _place(name: str) -> str:
    root = Path(chains.__file__).parent
    return f"chains/{name}/" if (root / name).is_dir() else f"chains/{name}.py"


def kept(group: str) -> str:
    """Return the tables that a command printed last, with their date, the commit and the command."""
    tables = ("\n".join(lines) for lines in read_figures()[group]["values"]["tables"])
    return "\n\n".join([told(group), *tables])


def house() -> str:
    return f"{told('house')}\n\n{house_table(read_figures()['house']['values'])}"


def trace_tree() -> str:
    """Return the runs of one answer of the service, each below the one that called it, with its kind."""
    model = FakeListChatModel(responses=["It is 9 % [GST Guide > Rate]."], name="ChatModel")
    settings = load_settings(_env_file=None, llm_provider="offline")
    checks = safety_of(settings, "Answer from the documents.")
    gate: Any = RunnableLambda(lambda _: None, name="Gate")
    chain = build_chain(retriever=AnyRetriever(name="Retriever"), model=model, scope=gate, safety=checks)
    with collect_runs() as runs:
        chain.invoke({"question": "What is the rate?"})
    [root] = runs.traced_runs
    return "\n".join(["```", *_runs(root, 0), "```"])


def _runs(run: Run, depth: int) -> Iterator[str]:
    yield f"{'  ' * depth}{run.name:{30 - 2 * depth}} {run.run_type}"
    for child in run.child_runs:
        yield from _runs(child, depth + 1)


# Dollars for a million tokens of the prompt and of the answer; list prices of the providers in July 2026.
PRICES = {
    "Groq, llama-3.1-8b-instant (the default with a key)": (0.05, 0.08),
    "Groq, llama-3.3-70b-versatile": (0.59, 0.79),
    "OpenAI, gpt-5-mini": (0.25, 2.00),
    "a model on your own machine, or none": (0.0, 0.0),
}
# Tokens of a prompt and an answer: the mean of 60 own questions that a model of 1.5 B parameters answered, and the most
# that the default settings allow.
MEAN = (1591, 26)
MOST = (4000, 500)


def cost_table() -> str:
    """Return what a thousand questions cost with each model, in dollars: of the mean length, and of the longest."""
    lengths = (MEAN, MOST)
    rows = [
        (
            name,
            f"{prompt:.2f} / {answer:.2f}",
            *(f"{(read * prompt + written * answer) / 1000:.2f}" for read, written in lengths),
        )
        for name, (prompt, answer) in PRICES.items()
    ]
    heads = (
        f"$ for 1,000 {kind} questions of {read:,} / {written} tokens"
        for kind, (read, written) in zip(("mean", "longest"), lengths, strict=True)
    )
    return table(("model", "$ for a million tokens, prompt / answer", *heads), rows)
