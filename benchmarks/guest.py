"""What the chain costs a program that builds it in, beside a bare chain of LangChain: `python -m benchmarks.guest`.

Both chains have the same retriever and the same scripted model, and are called in turn. `--write` keeps the figures.
"""

import argparse
import asyncio
import statistics
import subprocess
import sys
import time
from itertools import repeat
from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.load import dumps
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.tracers.context import collect_runs
from langchain_core.tracers.schemas import Run

from benchmarks.figures import ROOT, report
from benchmarks.tables import table
from chains import build_chain

TIMES, STARTS, PASSAGES = 60, 5, 10
WORDS = "The rate of GST on imports is 9 % [Guide 1 > Rate], as it stands in the guide of the authority. " * 3
ASKED: Any = {"question": "What is the rate of GST on imports?"}
SHELF = [
    Document(
        f"The rate of GST on imports is 9 %. {'More words follow. ' * 40}",
        metadata={"title": f"Guide {n}", "section": "Rate"},
    )
    for n in range(1, PASSAGES + 1)
]
OURS = "from waypoint import build_chain"
THEIRS = (
    "import langchain_core.prompts, langchain_core.runnables, langchain_core.output_parsers, langchain_core.retrievers"
)


def chains() -> tuple[Runnable[Any, Any], Runnable[Any, Any]]:
    """Return this chain, and retrieval, prompt, model and parser as LangChain's tutorials compose them."""
    models = (GenericFakeChatModel(messages=repeat(AIMessage(WORDS))) for _ in range(2))  # Written word by word.
    prompt = ChatPromptTemplate([("system", "Answer from:\n{context}"), ("human", "{question}")])
    found: RunnableLambda[Any, str] = RunnableLambda(
        lambda state: "\n\n".join(passage.page_content for passage in SHELF)
    )
    ours = build_chain(retriever=lambda question: SHELF, model=next(models))
    return ours, RunnablePassthrough.assign(context=found) | prompt | next(models) | StrOutputParser()


async def call_rows() -> list[list[str]]:
    """Return the processor's milliseconds of a call of each chain, and their difference, by the way it is called."""
    rows, both = [], chains()
    for way in ("invoke", "ainvoke", "astream"):
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(TIMES):
            for chain, spent in zip(both, times, strict=True):
                started = time.process_time()
                if way == "invoke":
                    chain.invoke(ASKED)
                elif way == "ainvoke":
                    await chain.ainvoke(ASKED)
                else:
                    async for _ in chain.astream(ASKED):
                        pass
                spent.append(1000 * (time.process_time() - started))
        rows.append(_row(f"`{way}`, processor ms", *map(statistics.median, times)))
    return rows


def import_row() -> list[str]:
    """Return the seconds of the imports in a process of its own, without those of Python's start."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(STARTS):
        for statement, spent in zip((OURS, THEIRS), times, strict=True):
            program = f"import time; t = time.process_time(); {statement}; print(time.process_time() - t)"
            done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
            spent.append(float(done.stdout))
    return _row("import, processor s", *map(statistics.median, times))


def trace_row() -> list[str]:
    """Return the kB of the runs of one answer, as a tracer sends their inputs and outputs."""
    sizes = []
    for chain in chains():
        with collect_runs() as runs:
            chain.invoke(ASKED)
        sizes.append(sum(map(_size, runs.traced_runs)) / 1000)
    return _row("trace of an answer, kB", *sizes)


def _size(run: Run) -> int:
    return len(dumps([run.inputs, run.outputs]).encode()) + sum(map(_size, run.child_runs))


def _row(name: str, mine: float, theirs: float) -> list[str]:
    return [name, f"{mine:.2f}", f"{theirs:.2f}", f"{mine / theirs:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="keep the figures for docs/measurements.md")
    write = parser.parse_args().write
    rows = [import_row(), *asyncio.run(call_rows()), trace_row()]
    report("guest", table(("what", "this chain", "bare chain", "ratio"), rows), is_kept=write)


if __name__ == "__main__":
    main()
