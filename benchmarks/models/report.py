"""The table of docs/models.md: a row for each measure, a column for each model."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from benchmarks.models.asking import ModelRow
from benchmarks.models.subjects import OFFLINE
from benchmarks.models.tasks import Task
from evals.metrics import is_declined, is_founded, is_right
from evals.metrics.answers import fact_coverage
from evals.metrics.retrieval import evidence_rank
from evals.questions import OUT_OF_SCOPE, Case

MARKER: Final = re.compile(r"\[\d+(?:\s*,\s*\d+)*\]|\[[^\[\]\n]+ > [^\[\]\n]+\]")
NOTHING: Final = "–"
TOP: Final = 5

Pairs = list[tuple[Case, ModelRow]]
Rows = Mapping[tuple[str, str], ModelRow]


def lines(tasks: Sequence[Task], found: Mapping[str, Rows]) -> list[list[str]]:
    """Return the lines of the table, each a label and a cell for each model."""
    columns = [_column(tasks, rows, found.get(OFFLINE, {})) for rows in found.values()]
    labels = list(dict.fromkeys(label for column in columns for label in column))
    return [[label, *(column.get(label, NOTHING) for column in columns)] for label in labels]


def _column(tasks: Sequence[Task], rows: Rows, offline: Rows) -> dict[str, str]:
    pairs = {name: _pairs(tasks, rows, name) for name in ("own", "followups", "poisoned")}
    commits = Counter(row["commit"] for row in rows.values())
    return {
        **_own(pairs["own"]),
        **_speed(pairs["own"]),
        **_followups(pairs["followups"], offline),
        **_judge(pairs["own"]),
        **_poisoned(pairs["poisoned"]),
        "code asked at (commit: questions)": ", ".join(f"{name}: {count}" for name, count in commits.items()),
    }


def _pairs(tasks: Sequence[Task], rows: Rows, name: str) -> Pairs:
    return [(task.case, rows[task.key]) for task in tasks if task.set == name and task.key in rows]


def _own(pairs: Pairs) -> dict[str, str]:
    given = [(case, row) for case, row in pairs if not is_declined(row)]
    written = [row for _, row in pairs if row["raw"]]
    marked = [one for row in written for one in row["citations"] if not one["attributed"]]
    scoped = [(case, row) for case, row in pairs if case.in_scope and case.answer_facts]
    right = [(case, row) for case, row in scoped if _facts(case, row["raw"]) == 1]
    kept = [pair for pair in right if not is_declined(pair[1]) and _facts(pair[0], pair[1]["answer"]) == 1]
    high = [pair for pair in given if pair[1]["confidence"] and pair[1]["confidence"]["level"] == "high"]
    outside = [pair for pair in pairs if pair[0].kind in OUT_OF_SCOPE]
    return {
        "**own questions** asked": str(len(pairs)),
        "answers given": _of(given, pairs),
        "the model's words hold a marker": _of([row for row in written if MARKER.search(row["raw"] or "")], written),
        "its markers that lead to a passage": _of([one for one in marked if one["matched"]], marked),
        "answers given with a citation": _of([row for _, row in given if _is_cited(row)], given),
        "the model's words hold every fact": _of(right, scoped),
        "... and are shown": _of(kept, right),
        "... and are taken back or declined": _of([pair for pair in right if pair not in kept], right),
        "facts in what is shown": _mean(
            [_facts(case, "" if is_declined(row) else row["answer"]) for case, row in scoped]
        ),
        "right (every fact, and a gold document cited)": _of([pair for pair in scoped if is_right(*pair)], scoped),
        "a gold document cited, of answers given": _of([pair for pair in given if is_founded(*pair)], given),
        "out of scope, yet answered": _of([pair for pair in outside if not is_declined(pair[1])], outside),
        "under High and not right": _of([pair for pair in high if not is_right(*pair)], high),
        "degraded (the model failed or was too slow)": _of(
            [row for _, row in pairs if row["outcome"] == "degraded"], pairs
        ),
    }


def _speed(pairs: Pairs) -> dict[str, str]:
    rows = [row for _, row in pairs if row["raw"]]
    usages = [row["usage"] for row in rows if row["usage"]]
    prompt, cached = _sum(usages, "input_tokens"), _sum(usages, "cached_tokens")
    return {
        "first word of the model, median s": _median_s(row["first_token_ms"] for row in rows),
        "first words shown, median s": _median_s(row["first_word_ms"] for row in rows),
        "whole answer, median s": _median_s(row["latency_ms"] for row in rows),
        "tokens of a prompt, mean": f"{prompt / len(usages):,.0f}" if usages else NOTHING,
        "... served from the server's cache": f"{cached / prompt:.0%}"
        if any("cached_tokens" in usage for usage in usages)
        else NOTHING,
        "tokens written, mean": f"{_sum(usages, 'output_tokens') / len(usages):.0f}" if usages else NOTHING,
    }


def _followups(pairs: Pairs, offline: Rows) -> dict[str, str]:
    """Return what the search queries are worth; the offline answerer's are those of the rule without a model."""
    by_model = [row for _, row in pairs if row["condensed"] is not None]
    used = [row for row in by_model if _differs(row, offline.get(("followups", row["id"])))]
    hits = [pair for pair in pairs if (evidence_rank(*pair) or TOP + 1) <= TOP]
    return {
        "**follow-ups** asked": str(len(pairs)),
        "the model was asked for a question that stands alone": _of(by_model, pairs),
        "... and its question was searched for, not the rule's": _of(used, by_model),
        f"evidence among the first {TOP} passages": _of(hits, pairs),
        "making it stand alone, median s": _median_s(row["timings_ms"].get("reformulation") for _, row in pairs),
    }


def _judge(pairs: Pairs) -> dict[str, str]:
    judged = [(case, row) for case, row in pairs if "judgement" in row]
    read = [(case, row) for case, row in judged if row["judgement"]["faithfulness"] is not None]
    by_right = {
        right: [float(row["judgement"]["faithfulness"] or 0) for case, row in read if is_right(case, row) is right]
        for right in (True, False)
    }
    return {
        "**judged** by the model itself": str(len(judged)),
        "its judgement can be read": _of(read, judged),
        "faithfulness that it gives right answers": _mean(by_right[True]),
        "faithfulness that it gives other answers": _mean(by_right[False]),
    }


def _poisoned(pairs: Pairs) -> dict[str, str]:
    return {
        "**poisoned documents** asked about": str(len(pairs)),
        "the model's words obey one": _of([row for _, row in pairs if row["obeyed"]], pairs),
        "an order reaches the reader": _of([row for _, row in pairs if row["acted"]], pairs),
        "the honest figure is shown": _of([row for case, row in pairs if fact_coverage(case, row) == 1], pairs),
    }


def _differs(row: ModelRow, other: ModelRow | None) -> bool:
    return other is not None and row["search_query"] != other["search_query"]


def _facts(case: Case, words: str | None) -> float:
    row: Any = {"outcome": "answered", "answer": words or ""}
    return fact_coverage(case, row)


def _is_cited(row: ModelRow) -> bool:
    return any(citation["matched"] for citation in row["citations"])


def _of(some: Collection[object], every: Collection[object]) -> str:
    return f"{len(some)} of {len(every)}" if every else NOTHING


def _mean(values: Sequence[float]) -> str:
    return f"{np.mean(values):.2f} ({len(values)})" if values else NOTHING


def _median_s(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{np.median(known) / 1000:.1f}" if known else NOTHING


def _sum(usages: Iterable[Mapping[str, int]], name: str) -> int:
    return sum(usage.get(name, 0) for usage in usages)
