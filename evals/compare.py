"""Compare two runs of one question set: the change of each figure with its interval, and what got better and worse."""

from collections.abc import Sequence
from dataclasses import dataclass

from evals.metrics import SAMPLES, is_judged, is_right, measures
from evals.metrics.measure import LEAST_QUESTIONS, Measure, interval, resamples
from evals.output import shown, under_headings
from evals.questions import Case
from evals.rows import Pair, Row, pairs_of

SURE = {True: "better", False: "worse"}


@dataclass(frozen=True, slots=True)
class Change:
    """A figure in both runs, by how much it changed, and the 95 % interval of that; None where there is none."""

    group: str
    name: str
    before: float | None
    after: float | None
    low: float | None
    high: float | None
    less_is_better: bool

    @property
    def change(self) -> float | None:
        """Return after minus before."""
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def verdict(self) -> str:
        """Return `better` or `worse` where the interval leaves out no change, else nothing."""
        if self.low is None or self.high is None or self.low <= 0 <= self.high:
            return ""
        return SURE[(self.low > 0) != self.less_is_better]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs over the questions that both have rows of; `left_out` is how many others there are."""

    changes: tuple[Change, ...]
    better: tuple[tuple[Case, Row, Row], ...]
    worse: tuple[tuple[Case, Row, Row], ...]
    questions: int
    left_out: int


def compare(
    cases: Sequence[Case], before: Sequence[Row], after: Sequence[Row], *, samples: int = SAMPLES
) -> Comparison:
    """Return what changed between two runs, on the questions that both have rows of."""
    common = {row["id"] for row in before} & {row["id"] for row in after}
    asked = [case for case in cases if case.id in common]
    first, second = pairs_of(asked, before), pairs_of(asked, after)
    flipped = [(case, old, new) for (case, old), (_, new) in zip(first, second, strict=True) if is_judged(case)]
    return Comparison(
        changes=tuple(_changes(first, second, samples)),
        better=tuple(three for three in flipped if _gained(*three) > 0),
        worse=tuple(three for three in flipped if _gained(*three) < 0),
        questions=len(asked),
        left_out=len(cases) - len(asked),
    )


def _gained(case: Case, old: Row, new: Row) -> int:
    return int(is_right(case, new)) - int(is_right(case, old))


def _changes(first: Sequence[Pair], second: Sequence[Pair], samples: int) -> list[Change]:
    old = {(measure.group, measure.name): measure for measure in measures(first)}
    new = {(measure.group, measure.name): measure for measure in measures(second)}
    return [_change(old[key], new[key], samples) for key in old if key in new]


def _change(old: Measure, new: Measure, samples: int) -> Change:
    """Return the change, with its interval by paired bootstrap: both runs on the same draws of questions."""
    questions = len(old.parts)
    found = None
    if questions >= LEAST_QUESTIONS:
        picks = resamples(questions, samples, seed=0)
        found = interval(new.values(picks) - old.values(picks))
    low, high = found or (None, None)
    return Change(old.group, old.name, old.value(), new.value(), low, high, old.less_is_better)


def comparison_text(found: Comparison, *, names: tuple[str, str]) -> str:
    """Return the changes as a table, then the questions that got better and those that got worse."""
    known = [change for change in found.changes if change.before is not None or change.after is not None]
    head = f"{names[0]} -> {names[1]}: {found.questions} questions that both have rows of"
    left_out = f"; {found.left_out} of the set are left out" if found.left_out else ""
    return "\n".join(
        [
            f"{head}{left_out}",
            *_table(known),
            "",
            "From low to high: the 95 % interval of the change, by paired bootstrap over the questions.",
            *_listed("Got better: wrong before, right now", found.better),
            *_listed("Got worse: right before, wrong now", found.worse),
        ]
    )


def _table(changes: Sequence[Change]) -> list[str]:
    width = max((len(change.name) for change in changes), default=0)
    return ["", *under_headings((change.group, _line(change, width)) for change in changes)]


def _line(change: Change, width: int) -> str:
    values = f"{shown(change.before, change.group):>8} -> {shown(change.after, change.group):>8}"
    if change.change is None or change.low is None or change.high is None:
        return f"  {change.name:<{width}}  {values}"
    by, low, high = (_signed(value, change.group) for value in (change.change, change.low, change.high))
    return f"  {change.name:<{width}}  {values}  {by:>8}  {low} to {high}  {change.verdict}".rstrip()


def _signed(value: float, group: str) -> str:
    return f"{value:+.1f}" if group == "latency" else f"{value:+.3f}"


def _listed(title: str, rows: Sequence[tuple[Case, Row, Row]]) -> list[str]:
    lines = [
        f"  {case.id} ({case.kind}: {old['outcome']} -> {new['outcome']}) {case.question}" for case, old, new in rows
    ]
    return ["", f"{title}: {len(rows)}", *lines]
