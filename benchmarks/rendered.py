"""Text that README and docs take from the code and from docs/figures.json; `make docs` writes it into them."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from langchain_core.language_models import FakeListChatModel
from langchain_core.retrievers import BaseRetriever

import chains
from app.settings.table import settings_table
from benchmarks.figures import read_figures, told
from benchmarks.load.report import QUERY, STREAM
from benchmarks.tables import table, verdicts
from chains import STAGES, build_chain

DOCS = Path(__file__).parents[1] / "docs"
POSTGRES_FIGURES = ("document hit@1", "document hit@10", "evidence chunk hit@5")
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
    rows = [(f"`{name}`", lines[name], f"`{_place(name)}`") for name in STAGES]
    return table(("stage", "does", "module"), rows)


def _place(name: str) -> str:
    """Return the path of a stage as it is: a file or a folder."""
    root = Path(chains.__file__).parent
    return f"chains/{name}/" if (root / name).is_dir() else f"chains/{name}.py"


def first_settings() -> str:
    """Return a table of the settings that a newcomer sets first."""
    return settings_table(FIRST_SETTINGS).rstrip()


def decisions_index() -> str:
    """Return a list of the subjects of decisions.md, with links."""
    titles = re.findall(r"^## (.+)$", (DOCS / "decisions.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return "\n".join(f"- [{title}](#{title.lower().replace(' ', '-')})" for title in titles)


def bench_table() -> str:
    """Return what `make bench` measured last, with its date and command."""
    group = read_figures()["bench"]
    return f"{told('bench')}\n\n{table(('what', 'measured', 'aim'), group['values']['rows'])}"


def followups_table() -> str:
    """Return what a conversation's last question finds, as it is, joined to those before, and as our search query."""
    group = read_figures()["followups"]
    head = ("questions", "", "n", "last turn", "turns joined", "ours", "ours - last turn", "ours - joined")
    cost = group["values"]["cost_ms"]
    spent = f"The rule takes {cost['p50']} ms of a processor in the median, {cost['p95']} ms at the 95th percentile."
    return f"{told('followups')} {spent}\n\n{table(head, group['values']['rows'])}"


def models_table() -> str:
    """Return what became of the answers of real models, a row for each measure."""
    kept = read_figures()["models"]
    values = kept["values"]
    head = ("", *(f"{name}: {model}" if model else name for name, model in values["models"].items()))
    written = f"{told('models')} The last row names the code that was asked."
    return f"{written}\n\n{table(head, values['lines'])}"


def ray_table() -> str:
    """Return what became of ingestions while their Ray cluster was harmed, with date and command."""
    group = read_figures()["ray"]
    head = ("harm", "added by the last run", "index and records as in one process", "exit codes", "seconds")
    return f"{told('ray')}\n\n{table(head, group['values']['rows'])}"


def hostile_table() -> str:
    """Return what `make hostile` tried and what held, with its date and command."""
    group = read_figures()["hostile"]
    return f"{told('hostile')}\n\n{table(('tried', 'cases', 'held', 'held means'), group['values']['rows'])}"


def pressure_table() -> str:
    """Return what endless streams and many uploads cost, with its date and command."""
    rows = [(name, *cells) for name, cells in read_figures()["pressure"]["values"].items()]
    heads = ("what", "how many", "seconds", "memory before, at the most, afterwards", "at the most")
    return f"{told('pressure')}\n\n{table(heads, rows)}"


def corpora_table(group_name: str, *, first: str = "corpus") -> str:
    """Return what was measured corpus by corpus, with its date and command; `first` heads the first column."""
    group = read_figures()[group_name]
    head = (first, *next(iter(group["values"].values())))
    return f"{told(group_name)}\n\n{table(head, [[name, *cells.values()] for name, cells in group['values'].items()])}"


def postgres_table() -> str:
    """Return what questions find in Chroma and SQLite, and in PostgreSQL, with the time of a retrieval."""
    group = read_figures()["postgres"]
    rows = [
        (
            name.replace("_", " "),
            one["chunks"],
            one["questions"],
            f"{one['equal_rankings']:.1%}",
            *(" / ".join(f"{value:.3f}" for value in one["figures"][figure]) for figure in POSTGRES_FIGURES),
            " / ".join(f"{times[0]:.0f}" for times in one["retrieval_ms"]),
        )
        for name, one in group["values"].items()
    ]
    heads = ("questions on", "chunks", "questions", "equal rankings", *POSTGRES_FIGURES, "retrieval p50 (ms)")
    return f"{table(heads, rows)}\n\n{told('postgres')}"


def elsewhere_tables() -> str:
    """Return what `benchmarks.elsewhere` measured, with its date and command."""
    group = read_figures()["elsewhere"]
    tables = (table(*group["values"][name].values()) for name in ("ranked", "altered"))
    return "\n\n".join([told("elsewhere"), *tables])


def page_table() -> str:
    """Return what `make bench-page` measured of the page, with its date and command."""
    group = read_figures()["page"]
    return f"{told('page')} Each time is the median of {group['values']['tries']}.\n\n{page_aims(group['values'])}"


def page_aims(measured: Mapping[str, float]) -> str:
    """Return what was aimed at with the page, what was measured, and whether it held."""
    weight, interactive, words = (measured[name] for name in ("weight_bytes", "interactive_ms", "first_words_ms"))
    return verdicts(
        [
            ("all that the first view loads, uncompressed, in 160 kB", f"{weight / 1000:.1f} kB", weight <= 160_000),
            ("usable within 200 ms on loopback", f"{interactive:.0f} ms", interactive <= 200),
            ("first words on screen within 50 ms of the service's first event", f"{words:.0f} ms", words <= 50),
        ]
    )


def lighthouse_table() -> str:
    """Return how Lighthouse judges the page, with the date and the command."""
    group = read_figures()["lighthouse"]
    return f"{told('lighthouse')}\n\n{lighthouse_scores(group['values']['scores'])}"


def lighthouse_scores(scores: Mapping[str, int]) -> str:
    """Return the scores from 0 to 100, a column for each category."""
    return table(tuple(scores), [tuple(scores.values())])


def house_table() -> str:
    """Return the size of the code, the way of one question and the cost of the tests, before and after."""
    figures = read_figures()
    house, load = figures["house"]["values"], figures["load_paired"]["values"]
    before, now = house["before"], house["now"]
    names = {
        "lines": "lines of `chains` and `app`",
        "files": "files of `chains` and `app`",
        "median_lines": "lines of a file, median",
        "tests": "tests",
    }
    rows: list[tuple[str, float, float]] = [(words, before[name], now[name]) for name, words in names.items()]
    rows += [
        (f"{words}: {what}", before["hops"][kind][what], now["hops"][kind][what])
        for kind, words in (("json", "one question as JSON"), ("streamed", "one question streamed"))
        for what in ("files", "functions", "calls")
    ]
    rows += [(f"processor an answer, {name}", 1, round(median(ratios), 2)) for name, ratios in load.items()]
    old, new = figures["suite_before"]["values"], figures["suite"]["values"]
    rows += [
        ("tests: seconds", old["wall_s"], new["wall_s"]),
        ("tests: seconds of processor", old["processor_s"], new["processor_s"]),
        ("tests: largest process, MB", old["largest_process_mb"], new["largest_process_mb"]),
    ]
    shown = [(what, f"{a:,}", f"{b:,}") for what, a, b in rows]
    measured = [told(name) for name in ("house", "load_paired", "suite_before", "suite")]
    return "\n".join([table(("what", "before", "now"), shown), "", *measured])


def aims_table() -> str:
    """Return what was aimed at with the code, the processor and the tests, and what came of it."""
    figures = read_figures()
    lines, suite = figures["house"]["values"]["now"]["lines"], figures["suite"]["values"]
    ratios = figures["load_paired"]["values"]
    found = [
        ("`chains` and `app` in 13,500 lines", f"{lines:,}", lines <= 13_500),
        _ratio_aim("processor of an `/api/query` answer", 1.15, ratios[QUERY]),
        _ratio_aim("processor of a stream of 60 words", 1.25, ratios[STREAM]),
        ("tests within 240 s on two idle cores", f"{suite['wall_s']} s", suite["wall_s"] <= 240),
        (
            "no process of the tests above 1,536 MB",
            f"{suite['largest_process_mb']:,} MB",
            suite["largest_process_mb"] <= 1536,
        ),
    ]
    return verdicts(found)


def _ratio_aim(what: str, most: float, ratios: Sequence[float]) -> tuple[str, str, bool]:
    shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    return f"{what} at most {most} times", f"{shown} in pairs", median(ratios) <= most
