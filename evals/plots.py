"""Draw plots as inline SVG: horizontal bars and a reliability diagram."""

from collections.abc import Sequence
from html import escape

from evals.metrics import Bin

ROW, LABEL, BAR, VALUE = 24, 370, 300, 110
SIDE, MARGIN = 260, 44


def bars(values: Sequence[tuple[str, float]], *, top: float | None = None, unit: str = "") -> str:
    """Return one bar for each (label, value); `top` is the value of a full bar, by default the largest."""
    full = top or max((value for _, value in values), default=0) or 1
    rows = "".join(_bar(place, label, value, full, unit) for place, (label, value) in enumerate(values))
    return _svg(LABEL + BAR + VALUE, ROW * len(values), rows, ", ".join(label for label, _ in values))


def _bar(place: int, label: str, value: float, full: float, unit: str) -> str:
    y, length = place * ROW, BAR * min(value / full, 1)
    shown = f"{value:.0f} {unit}" if unit else f"{value:.2f}"
    return (
        f'<text x="{LABEL - 8}" y="{y + 16}" text-anchor="end">{escape(label)}</text>'
        f'<rect x="{LABEL}" y="{y + 4}" width="{BAR}" height="{ROW - 8}" class="rest"/>'
        f'<rect x="{LABEL}" y="{y + 4}" width="{length:.1f}" height="{ROW - 8}" class="bar"/>'
        f'<text x="{LABEL + BAR + 8}" y="{y + 16}">{shown}</text>'
    )


def diagram(bins: Sequence[Bin]) -> str:
    """Return a reliability diagram: confidence against the share that is right, each bin as large as its count."""
    total = sum(bin_.count for bin_ in bins) or 1
    dots = "".join(
        f'<circle cx="{_x(bin_.confidence):.1f}" cy="{_y(bin_.right):.1f}" '
        f'r="{4 + 14 * (bin_.count / total) ** 0.5:.1f}" class="dot"><title>{bin_.count} answers, confidence '
        f"{bin_.confidence:.2f}, right {bin_.right:.2f}</title></circle>"
        for bin_ in bins
    )
    ticks = "".join(
        f'<text x="{_x(at):.1f}" y="{SIDE + 20}" text-anchor="middle">{at:g}</text>'
        f'<text x="{MARGIN - 8}" y="{_y(at) + 4:.1f}" text-anchor="end">{at:g}</text>'
        for at in (0, 0.5, 1)
    )
    frame = (
        f'<rect x="{MARGIN}" y="4" width="{SIDE}" height="{SIDE}" class="rest"/>'
        f'<line x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}" class="line"/>'
        f'<text x="{_x(0.5)}" y="{SIDE + 38}" text-anchor="middle">confidence</text>'
        f'<text x="{_x(0.02)}" y="20">share that is right</text>'
    )
    return _svg(SIDE + MARGIN + 24, SIDE + MARGIN, frame + ticks + dots, "confidence against the share that is right")


def _x(value: float) -> float:
    return MARGIN + SIDE * value


def _y(value: float) -> float:
    return 4 + SIDE * (1 - value)


def _svg(width: int, height: int, body: str, label: str) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{escape(label, quote=True)}">{body}</svg>'
    )
