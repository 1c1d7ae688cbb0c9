"""What `make load` and `make soak` measured, as tables."""

from benchmarks.figures import read_figures, told
from benchmarks.tables import table, verdicts


def load_tables() -> str:
    """Return a row for each load, and what was aimed at, with the date and the commit."""
    values = read_figures()["load"]["values"]
    return "\n".join([told("load"), "", *values["table"], "", *values["aims"]])


def profile_table() -> str:
    """Return what the event loop's thread does, by package."""
    values = read_figures()["load"]["values"]
    return "\n".join([f"{values['profile_ms']:.0f} ms a question under the profiler:", "", *values["profile"]])


def soak_tables() -> str:
    """Return what happened in the soak, and which claims held, with the date and the commit."""
    values = read_figures()["soak"]["values"]
    claimed = [verdicts(values["claims"])] if values["claims"] else []
    return "\n\n".join([told("soak"), table(("", ""), values["rows"]), *claimed])
