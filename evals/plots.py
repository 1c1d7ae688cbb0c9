"""Draw horizontal bars as inline SVG."""

from collections.abc import Mapping, Sequence
from html import escape

from evals.metrics import Bin

ROW, LABEL, BAR, VALUE = 24, 370, 300, 150


def bars(values: Sequence[tuple[str, float]], *, top: float | None = None, unit: str = "") -> str:
    """Return one bar for each (label, value); `top` is the value of a full bar, by default the largest."""
    full = top or max((value for _, value in values), default=0) or 1
    rows = "".join(
        _rest(place, label, f"{value:.0f} {unit}" if unit else f"{value:.2f}") + _bar(place, value / full)
        for place, (label, value) in enumerate(values)
    )
    return svg(LABEL + BAR + VALUE, ROW * len(values), rows, ", ".join(label for label, _ in values))


def spans(values: Sequence[tuple[str, float, float]], *, unit: str) -> str:
    """Return for each (label, usual, high) a bar as long as what is usual, and a thin line up to what is high."""
    full = max((high for _, _, high in values), default=0) or 1
    rows = "".join(
        _rest(place, label, f"{usual:.0f} / {high:.0f} {unit}")
        + _bar(place, usual / full)
        + _whisker(place, high / full)
        for place, (label, usual, high) in enumerate(values)
    )
    return svg(LABEL + BAR + VALUE, ROW * len(values), rows, ", ".join(label for label, _, _ in values))


def _rest(place: int, label: str, shown: str) -> str:
    y = place * ROW
    return (
        f'<text x="{LABEL - 8}" y="{y + 16}" text-anchor="end">{escape(label)}</text>'
        f'<rect x="{LABEL}" y="{y + 4}" width="{BAR}" height="{ROW - 8}" class="rest"/>'
        f'<text x="{LABEL + BAR + 8}" y="{y + 16}">{escape(shown)}</text>'
    )


def _bar(place: int, share: float) -> str:
    return f'<rect x="{LABEL}" y="{place * ROW + 4}" width="{BAR * min(share, 1):.1f}" height="{ROW - 8}" class="bar"/>'


def _whisker(place: int, share: float) -> str:
    y, x = place * ROW + ROW / 2, LABEL + BAR * min(share, 1)
    return (
        f'<line x1="{LABEL}" y1="{y}" x2="{x:.1f}" y2="{y}" class="whisker"/>'
        f'<line x1="{x:.1f}" y1="{y - 5}" x2="{x:.1f}" y2="{y + 5}" class="whisker"/>'
    )


def svg(width: float, height: float, body: str, label: str) -> str:
    """Return the picture with a label for those who cannot see it."""
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img" '
        f'aria-label="{escape(label, quote=True)}">{body}</svg>'
    )


SIDE, MARGIN = 260, 44
TICKS = (0, 0.5, 1)
MOST_MARKS = 20  # More of them hide the line.

Points = Sequence[tuple[float, float]]


def diagram(bins: Sequence[Bin]) -> str:
    """Return a reliability diagram: confidence against the share that is right, each bin as large as its count."""
    total = sum(bin_.count for bin_ in bins) or 1
    dots = "".join(
        f'<circle cx="{_x(bin_.confidence):.1f}" cy="{_y(bin_.right):.1f}" '
        f'r="{4 + 14 * (bin_.count / total) ** 0.5:.1f}" class="dot"><title>{bin_.count} answers, confidence '
        f"{bin_.confidence:.2f}, right {bin_.right:.2f}</title></circle>"
        for bin_ in bins
    )
    diagonal = f'<line x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}" class="line"/>'
    return _square(diagonal + dots, x="confidence", y="share that is right", legend="")


def curves(lines: Mapping[str, Points], *, x: str, y: str, x_ticks: Mapping[float, str] | None = None) -> str:
    """Return a line for each name through its (x, y) points, both from 0 to 1, with a legend where there are several.

    Args:
        lines: The points of each line, from left to right.
        x: What the horizontal axis is.
        y: What the vertical axis is.
        x_ticks: Labels of places on the horizontal axis, where they are not the places themselves.
    """
    named = [(place, name, points) for place, (name, points) in enumerate(lines.items())]
    drawn = "".join(_line(place, name, points) for place, name, points in named)
    legend = "".join(_entry(place, name) for place, name, _ in named) if len(named) > 1 else ""
    return _square(drawn, x=x, y=y, legend=legend, x_ticks=x_ticks)


def _line(place: int, name: str, points: Points) -> str:
    path = " ".join(f"{_x(across):.1f},{_y(up):.1f}" for across, up in points)
    marks = "".join(
        f'<circle cx="{_x(across):.1f}" cy="{_y(up):.1f}" r="2.5" class="mark{place}">'
        f"<title>{escape(name)}: {across:.2f}, {up:.2f}</title></circle>"
        for across, up in (points if len(points) <= MOST_MARKS else [])
    )
    return f'<polyline points="{path}" class="curve{place}"/>{marks}'


def _entry(place: int, name: str) -> str:
    y = 24 + 20 * place
    left = MARGIN + SIDE + 16
    return (
        f'<line x1="{left}" y1="{y}" x2="{left + 26}" y2="{y}" class="curve{place}"/>'
        f'<text x="{left + 32}" y="{y + 4}">{escape(name)}</text>'
    )


def _square(body: str, *, x: str, y: str, legend: str, x_ticks: Mapping[float, str] | None = None) -> str:
    across = x_ticks or {at: f"{at:g}" for at in TICKS}
    ticks = "".join(
        f'<text x="{_x(at):.1f}" y="{SIDE + 40}" text-anchor="middle">{escape(label)}</text>'
        for at, label in across.items()
    ) + "".join(f'<text x="{MARGIN - 8}" y="{_y(at) + 4:.1f}" text-anchor="end">{at:g}</text>' for at in TICKS)
    frame = (
        f'<rect x="{MARGIN}" y="24" width="{SIDE}" height="{SIDE}" class="rest"/>'
        f'<text x="{_x(0.5)}" y="{SIDE + 60}" text-anchor="middle">{escape(x)}</text>'
        f'<text x="{MARGIN}" y="14">{escape(y)}</text>'
    )
    width = SIDE + MARGIN + (230 if legend else 24)
    return svg(width, SIDE + 70, frame + ticks + body + legend, f"{y} by {x}")


def _x(value: float) -> float:
    return MARGIN + SIDE * value


def _y(value: float) -> float:
    return 24 + SIDE * (1 - value)
