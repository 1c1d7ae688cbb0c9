"""Report an evaluation as one self-contained HTML page."""

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

from evals.metrics import (
    Metric,
    Pair,
    document_rank,
    evaluate,
    evidence_rank,
    judgements,
    pairs_of,
    reliability,
)
from evals.plots import bars, diagram
from evals.questions import Case
from evals.rows import Row
from evals.table import shown

STYLE = """
:root { color-scheme: light dark; --ink: #1d2b36; --paper: #fff; --soft: #e6ebef; --bar: #1f6f8b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e9ee; --paper: #14191d; --soft: #2b343b; --bar: #58a9c7; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 64rem;
       margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1.5rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid var(--soft); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
svg { max-width: 100%; height: auto; font: 13px system-ui, sans-serif; }
svg text { fill: var(--ink); } .rest { fill: var(--soft); } .bar { fill: var(--bar); }
.dot { fill: var(--bar); fill-opacity: .7; } .line { stroke: var(--ink); stroke-dasharray: 4; }
details p { white-space: pre-wrap; margin: .3rem 0; }
"""


def html_report(
    cases: Sequence[Case],
    rows: Sequence[Row],
    *,
    facts: Mapping[str, object],
    metrics: Sequence[Metric] | None = None,
) -> str:
    """Return the page: the metrics, plots of them, and every question; `facts` tell what was measured.

    `metrics` are those of the rows, where they are known already.
    """
    metrics, pairs = metrics or evaluate(cases, rows), pairs_of(cases, rows)
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>Evaluation</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>Evaluation</h1>",
            _table(("setting", "value"), [(escape(name), escape(str(value))) for name, value in facts.items()]),
            "<h2>Retrieval</h2>",
            bars(_values(metrics, "retrieval"), top=1),
            "<h2>Answers and citations</h2>",
            bars(_values(metrics, "answers") + _values(metrics, "citations"), top=1),
            "<h2>Outcomes</h2>",
            bars(_outcomes(pairs), unit="questions"),
            "<h2>Confidence of the answers given</h2>",
            diagram(reliability(judgements(pairs))),
            "<h2>Latency</h2>",
            bars(_values(metrics, "latency"), unit="ms"),
            "<h2>Every figure</h2>",
            _table(("group", "metric", "value", "of"), [_metric_row(metric) for metric in metrics]),
            "<h2>Every question</h2>",
            _table(("question", "kind", "outcome", "document", "evidence", "confidence"), _question_rows(pairs)),
            "</body>\n</html>\n",
        ]
    )


def _values(metrics: Sequence[Metric], group: str) -> list[tuple[str, float]]:
    return [(metric.name, metric.value) for metric in metrics if metric.group == group and metric.value is not None]


def _outcomes(pairs: Sequence[Pair]) -> list[tuple[str, float]]:
    counted = Counter(f"{case.kind}: {row['outcome']}" for case, row in pairs)
    return [(label, float(count)) for label, count in sorted(counted.items())]


def _metric_row(metric: Metric) -> tuple[str, ...]:
    return metric.group, escape(metric.name), shown(metric.value, metric.group), str(metric.count)


def _question_rows(pairs: Sequence[Pair]) -> list[tuple[str, ...]]:
    return [
        (
            f"<details><summary>{escape(case.question)}</summary><p>{escape(row['answer'])}</p></details>",
            case.kind,
            escape(row["outcome"]),
            _rank(document_rank(case, row) if case.gold else None),
            _rank(evidence_rank(case, row)),
            f"{escape(row['confidence']['level'])} {row['confidence']['score']:.2f}",
        )
        for case, row in pairs
    ]


def _rank(rank: int | None) -> str:
    return "-" if rank is None else f"rank {rank}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    titles = "".join(f"<th>{title}</th>" for title in head)
    lines = ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
    return f"<table>\n<tr>{titles}</tr>\n" + "\n".join(f"<tr>{line}</tr>" for line in lines) + "\n</table>"
