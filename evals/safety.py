"""How well the safety checks tell attacks from questions, and find personal data: on labelled texts, with intervals."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chains.errors import WaypointError
from chains.ports import Entity
from evals.metrics.measure import Measure, Metric, Numbers, mean, table, with_intervals
from evals.questions import QuestionSetError, read_lines

THRESHOLDS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
# Kinds as sets of others name them, and ours.
KINDS = {
    "CREDIT_CARD": "CREDIT_CARD",
    "PHONE_NUMBER": "PHONE",
    "EMAIL_ADDRESS": "EMAIL",
    "US_SSN": "SSN",
    "IBAN_CODE": "IBAN",
    "IP_ADDRESS": "IP_ADDRESS",
    "US_DRIVER_LICENSE": "DRIVER_LICENSE",
    "SG_NRIC_FIN": "NRIC",
    "US_PASSPORT": "PASSPORT",
    "US_BANK_NUMBER": "BANK_ACCOUNT",
}

Row = Mapping[str, Any]


def read_labelled(path: Path, *fields: str) -> list[Row]:
    """Return the rows of a JSON list or of JSON lines, each with the fields.

    Raises:
        WaypointError: the file cannot be read, or a row lacks a field.
    """
    rows = _parsed(path)
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict) or any(field not in row for field in fields):
            raise WaypointError(f"row {number} of {path} lacks one of {', '.join(fields)}")
    if not rows:
        raise WaypointError(f"{path} holds no rows")
    return list(rows)


def _parsed(path: Path) -> list[Any]:
    lines = list(read_lines(path, QuestionSetError))
    if lines and lines[0][1].lstrip().startswith("["):
        whole = "\n".join(line for _, line in lines)
        return list(_json(whole, f"{path} is no JSON list"))
    return [_json(line, f"line {number} of {path} is no JSON") for number, line in lines]


def _json(text: str, problem: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise QuestionSetError(f"{problem}: {error}") from error


def measure_injection(rows: Sequence[Row], risk: Callable[[str], float], threshold: float) -> dict[str, Any]:
    """Return the shares of harmless prompts that pass and of attacks that are caught, also at other thresholds."""
    risks = [(risk(str(row["prompt"])), bool(row["label"])) for row in rows]
    passed = [None if attack else float(value < threshold) for value, attack in risks]
    caught = [float(value >= threshold) if attack else None for value, attack in risks]
    found = with_intervals([mean("injection", "harmless_passed", passed), mean("injection", "attacks_caught", caught)])
    return {
        **{metric.name: metric.value for metric in found},
        "threshold": threshold,
        "intervals": _intervals(found),
        "counts": {metric.name: metric.count for metric in found},
        "curve": [_at(risks, one) for one in THRESHOLDS],
    }


def measure_pii(rows: Sequence[Row], find: Callable[[str], Sequence[Entity]]) -> dict[str, Any]:
    """Return precision, recall and F2 of each kind that is found by pattern, and of all together.

    An entity is found where one of its kind overlaps it.
    """
    counted = [_counted(row, find(str(row["full_text"]))) for row in rows]
    names = sorted({name for row in counted for name in row})
    measures = [_measure(name, [row.get(name) for row in counted]) for name in names]
    everything = [np.sum(list(row.values()), axis=0) if row else None for row in counted]
    *kinds, all_kinds = with_intervals([*measures, _measure("pattern", everything)])
    return {
        "pattern_f2": all_kinds.value,
        "intervals": _intervals([all_kinds]),
        "per_entity": {
            metric.name: _rates(counted, metric.name) | {"f2": metric.value, "interval": [metric.low, metric.high]}
            for metric in kinds
        },
    }


def f2(parts: Numbers) -> float | None:
    """Return F2 of counts of true positives, false positives and false negatives: recall counts four times."""
    right, wrong, missed = parts.sum(axis=0)
    total = 5 * right + 4 * missed + wrong
    return float(5 * right / total) if total else None


def summary(found: Mapping[str, Any]) -> str:
    """Return the figures as plain lines."""
    lines: list[str] = []
    if injection := found.get("injection"):
        lines += [
            _line(name, injection[name], injection["intervals"][name], injection["counts"][name])
            for name in ("harmless_passed", "attacks_caught")
        ]
        lines += ["", "threshold  harmless passed  attacks caught"]
        lines += [
            f"{at['threshold']:>9}  {_figure(at['harmless_passed']):>15}  {_figure(at['attacks_caught']):>14}"
            for at in injection["curve"]
        ]
    if pii := found.get("pii"):
        lines += ["", _line("pattern_f2", pii["pattern_f2"], pii["intervals"]["pattern"])]
        lines += [
            f"{name:<20} F2 {_figure(kind['f2'])}, precision {kind['precision']:.3f}, recall {kind['recall']:.3f} "
            f"of {kind['count']}"
            for name, kind in pii["per_entity"].items()
        ]
    return "\n".join(lines).strip()


def _line(name: str, value: float | None, interval: Sequence[float | None], count: int | None = None) -> str:
    """Return a line with a figure, the number of rows behind it and its interval."""
    rows = "" if count is None else f" of {count}"
    return f"{name:<20} {_figure(value)}{rows}" + ("" if value is None else "  " + " to ".join(map(_figure, interval)))


def _figure(value: float | None) -> str:
    """Return a share as text; a set may hold no row that it could be of."""
    return "none" if value is None else f"{value:.3f}"


def _at(risks: Sequence[tuple[float, bool]], threshold: float) -> dict[str, float | None]:
    harmless = [value < threshold for value, attack in risks if not attack]
    attacks = [value >= threshold for value, attack in risks if attack]
    return {"threshold": threshold, "harmless_passed": _share(harmless), "attacks_caught": _share(attacks)}


def _share(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None


def _counted(row: Row, entities: Sequence[Entity]) -> dict[str, tuple[int, int, int]]:
    """Return the true positives, false positives and false negatives of a text, by kind."""
    spans = [span for span in row["spans"] if span["entity_type"] in KINDS]
    counts: dict[str, list[int]] = {}
    matched: set[Entity] = set()
    for span in spans:
        hits = {entity for entity in entities if _is_hit(span, entity)}
        matched |= hits
        counts.setdefault(span["entity_type"], [0, 0, 0])[0 if hits else 2] += 1
    names = {ours: name for name, ours in KINDS.items()}
    for entity in entities:
        if entity not in matched:
            counts.setdefault(names.get(entity.kind, entity.kind), [0, 0, 0])[1] += 1
    return {name: (right, wrong, missed) for name, (right, wrong, missed) in counts.items()}


def _is_hit(span: Row, entity: Entity) -> bool:
    same = KINDS[span["entity_type"]] == entity.kind
    return same and entity.start < span["end_position"] and span["start_position"] < entity.end


def _measure(name: str, parts: Sequence[Sequence[float] | None]) -> Measure:
    return Measure("pii", name, table(parts, 3), f2)


def _rates(counted: Iterable[Mapping[str, tuple[int, int, int]]], name: str) -> dict[str, float]:
    right, wrong, missed = (sum(row.get(name, (0, 0, 0))[place] for row in counted) for place in range(3))
    found, there = right + wrong, right + missed
    return {"precision": right / found if found else 0.0, "recall": right / there if there else 0.0, "count": there}


def _intervals(metrics: Iterable[Metric]) -> dict[str, list[float | None]]:
    return {metric.name: [metric.low, metric.high] for metric in metrics}
