"""The tables of docs/safety.md, from docs/figures.json."""

from typing import Any

from benchmarks.figures import read_figures, told
from benchmarks.tables import table, verdicts

LEAST_PASSED, LEAST_CAUGHT, MOST_ALARMS, LEAST_F2, QUESTION_MS, PASSAGES_MS = 0.88, 0.78, 0.02, 0.85, 5, 10
MOST_MB, MOST_SLOWER_S = 60, 0.2
UNSEEN = {
    "family": "ours, without the family of the text",
    "language": "ours, without the language of the text",
    "public": "PIGuard, the half that no threshold was chosen on",
}

RATES = ("precision", "recall", "f2")


def aims_table() -> str:
    """Return what was aimed at and what was found."""
    found = read_figures()["safety"]["values"]
    injection, pii = found["injection"], found["pii"]
    documents = sum(one["documents"] for one in found["clean"].values())
    alarms = sum(one["alarms"] for one in found["clean"].values())
    held = verdicts(
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
        ]
    )
    return f"{told('safety')}\n\n{held}"


def curve_table() -> str:
    """Return the shares at each threshold."""
    curve = read_figures()["safety"]["values"]["injection"]["curve"]
    rows = [(at["threshold"], f"{at['harmless_passed']:.3f}", f"{at['attacks_caught']:.3f}") for at in curve]
    return table(("threshold", "harmless passed", "attacks caught"), rows)


def unseen_table() -> str:
    """Return what phrases and classifier find in texts that they were not made from."""
    found = read_figures()["injection"]["values"]
    rows = [
        (told, name, *(_rate(one, key) for key in ("harmless_passed", "attacks_caught")))
        for part, told in UNSEEN.items()
        for name, one in found[part].items()
    ]
    return f"{told('injection')}\n\n{table(('texts', 'by', 'harmless passed', 'attacks caught'), rows)}"


def unseen_curve_table() -> str:
    """Return the shares at each threshold, of texts whose family the classifier has not seen."""
    found = read_figures()["injection"]["values"]["family"]
    names = ("phrases", "classifier", "both")
    rows = [
        (at[0]["threshold"], *(f"{one['harmless_passed']:.3f}, {one['attacks_caught']:.3f}" for one in at))
        for at in zip(*(found[name]["curve"] for name in names), strict=True)
    ]
    return table(("threshold", *names), rows)


def documents_table() -> str:
    """Return what phrases, and the classifier if it looked at documents, find and wrongly find there."""
    found = read_figures()["injection"]["values"]
    clean, alarms = found["clean"], {at["threshold"]: at["alarms"] for at in found["clean"]["curve"]}
    phrases = read_figures()["safety"]["values"]["clean"]
    by_phrases = sum(one["alarms"] for name, one in phrases.items() if name != "sample corpus")
    shown = [("phrases, as it is", found["document"]["phrases"]["attacks_caught"], by_phrases)]
    shown += [
        (f"classifier, from {at['threshold']}", at["attacks_caught"], alarms[at["threshold"]])
        for at in found["document"]["classifier"]["curve"]
        if at["threshold"] in alarms
    ]
    return table(
        ("by", "orders found", f"alarms in {clean['documents']} clean stretches"),
        [(name, f"{caught:.3f}", count) for name, caught, count in shown],
    )


def cost_table() -> str:
    """Return what the local checks cost."""
    found = read_figures()["safety_cost"]["values"]
    ask = found["ask"]
    slower = {name: ask["on"][name] - ask["off"][name] for name in ask["on"]}
    held = verdicts(
        [
            _time("a question of 200 characters", found["question"], QUESTION_MS),
            _time("8,000 characters of passages that were not seen before", found["passages"], PASSAGES_MS),
            (f"memory, at most {MOST_MB} MB", f"{found['memory_mb']} MB", found["memory_mb"] <= MOST_MB),
            (
                f"`waypoint ask` in a fresh process, at most {MOST_SLOWER_S} s slower",
                f"{slower['least']:+.2f} s (median {slower['median']:+.2f} s; {ask['off']['least']:.2f} s without)",
                slower["least"] <= MOST_SLOWER_S,
            ),
        ]
    )
    return f"{told('safety_cost')}\n\n{held}"


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


def _time(name: str, found: dict[str, float], most_ms: float) -> tuple[str, str, bool]:
    shown = f"{found['least']:.2f} ms (median {found['median']:.2f} ms)"
    return f"{name}, at most {most_ms} ms", shown, found["least"] <= most_ms


def _rate(found: dict[str, Any], key: str) -> str:
    return f"{found[key]:.3f} of {found['counts'][key]} ({_range(found['intervals'][key])})"


def _range(interval: list[float | None]) -> str:
    return " to ".join("-" if one is None else f"{one:.3f}" for one in interval)
