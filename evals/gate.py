"""Floors under figures: `right, all kinds=0.7` fails a run that is worse, so that it can gate somebody's CI."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from chains.errors import ConfigurationError
from evals.metrics import Metric

_APART = re.compile(r"[^a-z0-9@%-]+")


class FloorError(ConfigurationError):
    """A floor is no `metric=value`, or names no metric."""


@dataclass(frozen=True, slots=True)
class Floor:
    """The value that a metric has to reach; of one where less is better, the value it may not exceed."""

    metric: str
    value: float


def read_floor(text: str) -> Floor:
    """Return the floor that `metric=value` describes.

    Raises:
        FloorError: it is none.
    """
    name, _, value = text.rpartition("=")
    try:
        return Floor(name.strip(), _finite(value))
    except ValueError:
        msg = f"--fail-under {text!r}: write metric=value with a number, like --fail-under 'document hit@5=0.9'"
        raise FloorError(msg) from None


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def check_names(floors: Sequence[Floor], names: Sequence[str]) -> None:
    """Check that every floor is under a metric that there is.

    Raises:
        FloorError: one is not; the message lists the names.
    """
    known = {_slug(name) for name in names}
    for floor in floors:
        if _slug(floor.metric) not in known:
            msg = f"--fail-under: there is no metric {floor.metric!r}; there are: {', '.join(sorted(set(names)))}"
            raise FloorError(msg)


def failures(floors: Sequence[Floor], metrics: Sequence[Metric]) -> list[str]:
    """Return a sentence for each floor that its metric does not reach.

    Raises:
        FloorError: a floor names no metric.
    """
    check_names(floors, [metric.name for metric in metrics])
    by_name = {_slug(metric.name): metric for metric in metrics}
    found = [_failure(floor, by_name[_slug(floor.metric)]) for floor in floors]
    return [sentence for sentence in found if sentence]


def _failure(floor: Floor, metric: Metric) -> str | None:
    if metric.value is None:
        return f"{metric.name} is unknown: no question counts for it; the limit is {floor.value:g}"
    if metric.less_is_better and metric.value > floor.value:
        return f"{metric.name} is {metric.value:.3f}, more than the {floor.value:g} that is allowed"
    if not metric.less_is_better and metric.value < floor.value:
        return f"{metric.name} is {metric.value:.3f}, less than the {floor.value:g} that is asked for"
    return None


def _slug(name: str) -> str:
    """Return a name without what a shell or a person may write in another way: case, blanks, commas, underscores."""
    return _APART.sub("-", name.lower()).strip("-")
