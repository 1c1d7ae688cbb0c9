"""Text that README and docs take from the code and from docs/figures.json; `make docs` writes it into them."""

import re
from pathlib import Path
from typing import Any

from langchain_core.language_models import FakeListChatModel
from langchain_core.retrievers import BaseRetriever

import chains
from app.settings import Settings
from app.settings.table import default_of
from benchmarks.figures import read_figures
from chains import STAGES, build_chain

DOCS = Path(__file__).parents[1] / "docs"
# What a newcomer sets first; docs/settings.md has them all.
FIRST_SETTINGS = (
    "llm_api_key",
    "llm_provider",
    "llm_base_url",
    "llm_model",
    "chroma_path",
    "retriever_type",
    "retrieval_top_k",
    "relevance_threshold",
    "auth_mode",
    "cache_enabled",
    "port",
)


class AnyRetriever(BaseRetriever):
    """Stands for a retriever in the diagram of the chain."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Any]:
        raise NotImplementedError


class AnyChatModel(FakeListChatModel):
    """Stands for a chat model in the diagram of the chain."""


def first_answer() -> str:
    """Return README's first command with what it printed."""
    shown = read_figures()["first_answer"]["values"]
    return f'```console\n$ make ask Q="{shown["question"]}"\n{shown["output"]}\n```'


def chain_diagram() -> str:
    """Return the chain as LangChain draws it, for a renderer of Mermaid."""
    chain = build_chain(retriever=AnyRetriever(), model=AnyChatModel(responses=[]))
    return f"```mermaid\n{chain.get_graph().draw_mermaid().strip()}\n```"


def stage_table() -> str:
    """Return a row for each stage: its name, what it does, and where it is."""
    lines = dict(line.split(None, 1) for line in (chains.__doc__ or "").splitlines() if line.startswith(STAGES))
    rows = [f"| `{name}` | {lines[name]} | `{_place(name)}` |" for name in STAGES]
    return "\n".join(["| stage | does | module |", "|---|---|---|", *rows])


def _place(name: str) -> str:
    """Return the path of a stage as it is: a file or a folder."""
    root = Path(chains.__file__).parent
    return f"chains/{name}/" if (root / name).is_dir() else f"chains/{name}.py"


def first_settings() -> str:
    """Return a table of the settings that a newcomer sets first."""
    fields = Settings.model_fields
    rows = [
        f"| `{name.upper()}` | {f'`{default}`' if (default := default_of(fields[name])) else ''} "
        f"| {fields[name].description} |"
        for name in FIRST_SETTINGS
    ]
    return "\n".join(["| setting | default | meaning |", "|---|---|---|", *rows])


def decisions_index() -> str:
    """Return a list of all decisions, with links."""
    text = (DOCS / "decisions.md").read_text(encoding="utf-8")
    lines = []
    for level, title in re.findall(r"^(##|###) (.+)$", text, flags=re.MULTILINE):
        anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        lines.append(f"\n**{title}**\n" if level == "##" else f"- [{title}](#{anchor})")
    return "\n".join(lines).strip()


def bench_table() -> str:
    """Return what `make bench` measured last, with its date and command."""
    group = read_figures()["bench"]
    rows = [f"| {what} | {measured} | {aim} |" for what, measured, aim in group["values"]["rows"]]
    return "\n".join([_dated(group), "", "| what | measured | aim |", "|---|---|---|", *rows])


def hostile_table() -> str:
    """Return what `make hostile` tried and what held, with its date and command."""
    group = read_figures()["hostile"]
    rows = [f"| {' | '.join(row)} |" for row in group["values"]["rows"]]
    return "\n".join([_dated(group), "", "| tried | cases | held | held means |", "|---|---|---|---|", *rows])


def house_table() -> str:
    """Return the size of the code, the way of one question and the cost of the tests, before and after."""
    figures = read_figures()
    house, load = figures["house"]["values"], figures["load_paired"]["values"]
    before, now = house["before"], house["now"]
    rows = [
        ("lines of `chains` and `app`", before["lines"], now["lines"]),
        ("files of `chains` and `app`", before["files"], now["files"]),
        ("lines of a file, median", before["median_lines"], now["median_lines"]),
    ]
    rows += [
        (f"{words}: {what}", before["hops"][kind][what], now["hops"][kind][what])
        for kind, words in (("json", "one question as JSON"), ("streamed", "one question streamed"))
        for what in ("files", "functions", "calls")
    ]
    rows += [(f"processor an answer, {name}", "1", f"{ratio:.2f}") for name, ratio in load.items()]
    old, new = figures["suite_before"]["values"], figures["suite"]["values"]
    rows += [
        ("tests: seconds", old["wall_s"], new["wall_s"]),
        ("tests: seconds of processor", old["processor_s"], new["processor_s"]),
        ("tests: largest process, MB", old["largest_process_mb"], new["largest_process_mb"]),
    ]
    told = [_dated(figures[name]) for name in ("house", "load_paired", "suite_before", "suite")]
    table = [
        f"| {what} | {first:,} | {then:,} |" if isinstance(first, int) else f"| {what} | {first} | {then} |"
        for what, first, then in rows
    ]
    return "\n".join(["| what | before | now |", "|---|---|---|", *table, "", *told])


def _dated(group: dict[str, Any]) -> str:
    return " ".join(filter(None, [f"Measured on {group['date']} by `{group['command']}`.", group.get("note")]))
