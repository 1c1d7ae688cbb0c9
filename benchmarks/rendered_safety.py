"""The tables of docs/safety.md, from docs/figures.json."""

from typing import Any

from benchmarks.figures import read_figures
from benchmarks.tables import table, verdicts

LEAST_PASSED, LEAST_CAUGHT, MOST_ALARMS, LEAST_F2, QUESTION_MS, PASSAGES_MS = 0.88, 0.78, 0.02, 0.85, 5, 10

RATES = ("precision", "recall", "f2")


def aims_table() -> str:
    """Return what was aimed at and what was found."""
    found = read_figures()["safety"]["values"]
    injection, pii = found["injection"], found["pii"]
    question_ms, passages_ms, _ = found["ms"].values()
    documents = sum(one["documents"] for one in found["clean"].values())
    alarms = sum(one["alarms"] for one in found["clean"].values())
    return verdicts(
        [
            _share("harmless prompts that pass, at least", LEAST_PASSED, injection, "harmless_passed"),
            _share("attacks caught, at least", LEAST_CAUGHT, injection, "attacks_caught"),
            (
                f"clean documents of 4,000 characters that raise an alarm, below {MOST_ALARMS:.0%}",
                f"{alarms} of {documents}",
                alarms < MOST_ALARMS * documents,
            ),
            (
                f"F2 of personal data by pattern, at least {LEAST_F2}",
                f"{pii['pattern_f2']:.3f} ({_range(pii['intervals']['pattern'])})",
                pii["pattern_f2"] >= LEAST_F2,
            ),
            (
                f"a question of 200 characters, at most {QUESTION_MS} ms",
                f"{question_ms} ms",
                question_ms <= QUESTION_MS,
            ),
            (
                f"8,000 characters of passages, at most {PASSAGES_MS} ms",
                f"{passages_ms} ms",
                passages_ms <= PASSAGES_MS,
            ),
        ]
    )


def curve_table() -> str:
    """Return the shares at each threshold."""
    curve = read_figures()["safety"]["values"]["injection"]["curve"]
    rows = [(at["threshold"], f"{at['harmless_passed']:.3f}", f"{at['attacks_caught']:.3f}") for at in curve]
    return table(("threshold", "harmless passed", "attacks caught"), rows)


def entity_table() -> str:
    """Return precision, recall and F2 of each kind of personal data that the set has."""
    kinds = read_figures()["safety"]["values"]["pii"]["per_entity"]
    rows = [
        (
            name,
            kind["count"],
            *(f"{kind[rate]:.3f}" for rate in ("precision", "recall", "f2")),
            _range(kind["interval"]),
        )
        for name, kind in kinds.items()
        if kind["count"]
    ]
    return table(("kind in the set", "entities", "precision", "recall", "F2", "95 %"), rows)


def clean_table() -> str:
    """Return the alarms and the personal data in clean documents."""
    corpora = read_figures()["safety"]["values"]["clean"]
    rows = [
        (name, one["documents"], one["alarms"], ", ".join(f"{kind} {count}" for kind, count in one["entities"].items()))
        for name, one in corpora.items()
    ]
    return table(("documents", "stretches", "alarms", "personal data found"), rows)


def _share(name: str, least: float, found: dict[str, Any], key: str) -> tuple[str, str, bool]:
    value, interval, count = found[key], found["intervals"][key], found["counts"][key]
    return f"{name} {least:.0%}", f"{value:.3f} of {count} ({_range(interval)})", value >= least


def _time(name: str, found_ms: float, most_ms: float) -> tuple[str, str, bool]:
    return f"{name}, at most {most_ms} ms", f"{found_ms} ms", found_ms <= most_ms


def _range(interval: list[float | None]) -> str:
    return " to ".join("-" if one is None else f"{one:.3f}" for one in interval)
