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
    false_answer_curve,
    hit_curves,
    judgements,
    pairs_of,
    reliability,
    risk_coverage,
    scores,
)
from evals.output import INTERVALS, counts_text, shown
from evals.plots import bars, curves, diagram, spans
from evals.questions import Case
from evals.rows import Row
from evals.worst import WORST, worst_rows

STYLE = """
:root { color-scheme: light dark; --ink: #1d2b36; --paper: #fff; --soft: #e6ebef; --bar: #1f6f8b; --second: #b3541e;
        --third: #4b7a2b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e9ee; --paper: #14191d; --soft: #2b343b; --bar: #58a9c7;
        --second: #e79a66; --third: #9cc878; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 68rem;
       margin: 2rem auto; padding: 0 1rem; }
h2 { margin: 2.2rem 0 .4rem; } p { margin: .3rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1.5rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid var(--soft);
         font-variant-numeric: tabular-nums; }
.long { min-width: 14rem; } td:first-child { min-width: 8rem; }
td p { margin: 0 0 .3rem; min-width: 18rem; }
svg { max-width: 100%; height: auto; font: 13px system-ui, sans-serif; }
svg text { fill: var(--ink); } .rest { fill: var(--soft); } .bar { fill: var(--bar); }
.dot { fill: var(--bar); fill-opacity: .7; } .line { stroke: var(--ink); stroke-dasharray: 4; }
.whisker { stroke: var(--ink); stroke-width: 1.5; }
.curve0, .curve1, .curve2 { fill: none; stroke-width: 2; }
.curve0 { stroke: var(--bar); } .curve1 { stroke: var(--second); stroke-dasharray: 8 3; }
.curve2 { stroke: var(--third); stroke-dasharray: 2 3; }
.mark0 { fill: var(--bar); } .mark1 { fill: var(--second); } .mark2 { fill: var(--third); }
.figures { display: flex; flex-wrap: wrap; gap: 1rem 2rem; }
figure { margin: 0; max-width: 340px; } figcaption { font-size: 13px; }
details p { white-space: pre-wrap; margin: .3rem 0; }
"""


MOST_RETRIEVED = 10
K_TICKS = {0.0: "1", 4 / 9: "5", 1.0: "10"}
WORST_FIRST = f"Wrong answers, the most confident first, then wrong declines; {WORST} at most."
WORST_HEAD = ("question", "what is wrong", "confidence", "answer", "evidence")


def html_report(
    cases: Sequence[Case],
    rows: Sequence[Row],
    *,
    facts: Mapping[str, object],
    metrics: Sequence[Metric] | None = None,
) -> str:
    """Return the page: the metrics, plots of them, the worst rows and all of them; `facts` tell what was measured.

    `metrics` are those of the rows, where they are known already.
    """
    metrics, pairs = metrics or evaluate(cases, rows), pairs_of(cases, rows)
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>Evaluation</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>Evaluation</h1>",
            "".join(f"<p>{escape(line)}</p>" for line in counts_text(cases, rows).splitlines()),
            _table(("setting", "value"), [(escape(name), escape(str(value))) for name, value in facts.items()]),
            *_plots(metrics, pairs),
            f"<h2>The worst rows</h2>\n<p>{WORST_FIRST}</p>",
            _table(WORST_HEAD, worst_rows(pairs)),
            f"<h2>Every figure</h2>\n<p>{escape(INTERVALS)}</p>",
            _table(("group", "metric", "value", "from", "to", "of"), [_metric_row(metric) for metric in metrics]),
            "<h2>Every question</h2>",
            _table(("question", "kind", "outcome", "document", "evidence", "confidence"), _question_rows(pairs)),
            "</body>\n</html>\n",
        ]
    )


def _plots(metrics: Sequence[Metric], pairs: Sequence[Pair]) -> list[str]:
    return [
        "<h2>Right, by kind and form of question</h2>",
        bars(_values(metrics, "right"), top=1),
        "<h2>Retrieval</h2>\n<p>How often what is sought is among the first k that were retrieved.</p>",
        _retrieval(pairs),
        "<h2>Answers and citations</h2>",
        bars(_values(metrics, "answers") + _values(metrics, "citations"), top=1),
        "<h2>Outcomes</h2>",
        bars(_outcomes(pairs), unit="questions"),
        "<h2>Confidence of the answers given</h2>",
        *_confidence(pairs),
        "<h2>Latency by stage</h2>\n<p>The bar is the median, the line the 95th percentile.</p>",
        spans(_latency(metrics), unit="ms"),
    ]


def _retrieval(pairs: Sequence[Pair]) -> str:
    lines = {
        name: [((k - 1) / (MOST_RETRIEVED - 1), share) for k, share in points]
        for name, points in hit_curves(pairs, MOST_RETRIEVED).items()
    }
    return curves(lines, x="k", y="hit@k", x_ticks=K_TICKS)


def _confidence(pairs: Sequence[Pair]) -> list[str]:
    """Return the two reliability diagrams, and what withholding the least confident answers would give."""
    judged = judgements(pairs)
    kept = [(point.coverage, point.risk) for point in risk_coverage(judged)]
    answered = false_answer_curve(scores(pairs))
    plots = {
        "Reliability, bins of equal width: on the diagonal, confidence is the share that is right.": diagram(
            reliability(judged)
        ),
        "Reliability, bins of equal mass: each holds a tenth of the answers.": diagram(
            reliability(judged, equal_mass=True)
        ),
        "Risk by coverage: of the most confident answers kept, the share that is wrong.": curves(
            {"all answers": kept}, x="share of the answers kept", y="share of these that is wrong"
        ),
        "What is answered, as the confidence that is asked for falls.": curves(
            {"all thresholds": answered}, x="out of scope, answered all the same", y="in scope, answered"
        ),
    }
    figures = "".join(f"<figure>{plot}<figcaption>{text}</figcaption></figure>" for text, plot in plots.items())
    return [f'<div class="figures">{figures}</div>']


def _values(metrics: Sequence[Metric], group: str) -> list[tuple[str, float]]:
    return [(metric.name, metric.value) for metric in metrics if metric.group == group and metric.value is not None]


def _latency(metrics: Sequence[Metric]) -> list[tuple[str, float, float]]:
    times = dict(_values(metrics, "latency"))
    stages = dict.fromkeys(name.rsplit(" p", 1)[0] for name in times)
    return [(stage, times[f"{stage} p50 (ms)"], times[f"{stage} p95 (ms)"]) for stage in stages]


def _outcomes(pairs: Sequence[Pair]) -> list[tuple[str, float]]:
    counted = Counter(f"{case.kind}: {row['outcome']}" for case, row in pairs)
    return [(label, float(count)) for label, count in sorted(counted.items())]


def _metric_row(metric: Metric) -> tuple[str, ...]:
    values = (shown(value, metric.group) for value in (metric.value, metric.low, metric.high))
    return metric.group, escape(metric.name), *values, str(metric.count)


def _question_rows(pairs: Sequence[Pair]) -> list[tuple[str, ...]]:
    return [
        (
            f"<details><summary>{escape(case.question)}</summary><p>{escape(row['answer'])}</p></details>",
            case.kind,
            escape(row["outcome"]),
            _rank(document_rank(case, row) if case.gold else None),
            _rank(evidence_rank(case, row)),
            _level(row),
        )
        for case, row in pairs
    ]


def _level(row: Row) -> str:
    return f"{escape(row['confidence']['level'])} {row['confidence']['score']:.2f}" if row["confidence"] else "-"


def _rank(rank: int | None) -> str:
    return "-" if rank is None else f"rank {rank}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    titles = "".join(f"<th>{title}</th>" for title in head)
    lines = ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
    table = f"<table>\n<tr>{titles}</tr>\n" + "\n".join(f"<tr>{line}</tr>" for line in lines) + "\n</table>"
    return f'<div class="wide">{table}</div>'
