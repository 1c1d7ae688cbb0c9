"""`waypoint eval safety`: how well attacks and personal data are found, on labelled texts."""

import json
from pathlib import Path
from typing import Any

from app.cli.rendering import show


def evaluate_safety(injection: Path | None, pii: Path | None, json_out: Path | None) -> None:
    """Measure the safety checks on labelled files, and print the figures.

    Raises:
        ConfigurationError: no file is given.
        WaypointError: a file cannot be read.
    """
    from app import hooks
    from app.wiring.safety import THRESHOLDS
    from chains.errors import ConfigurationError
    from evals.output import write_page
    from evals.safety import measure_injection, measure_pii, read_labelled, summary

    if injection is None and pii is None:
        msg = "give labelled texts: `waypoint eval safety --injection FILE --pii FILE`"
        raise ConfigurationError(msg)
    found: dict[str, Any] = {}
    if injection is not None:
        rows = read_labelled(injection, "prompt", "label")
        found["injection"] = measure_injection(rows, hooks.load("checks", "injection")().question, THRESHOLDS.guard)
    if pii is not None:
        found["pii"] = measure_pii(read_labelled(pii, "full_text", "spans"), hooks.load("checks", "pii_entities"))
    show(summary(found))
    if json_out is not None:
        write_page(json_out, json.dumps(found, indent=2) + "\n")
