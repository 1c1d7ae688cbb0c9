"""Draw what lies in a square as inline SVG: the reliability diagram, and curves of one share by another."""

from collections.abc import Mapping, Sequence
from html import escape

from evals.metrics import Bin
from evals.plots import svg

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
