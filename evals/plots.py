"""Draw horizontal bars as inline SVG."""

from collections.abc import Sequence
from html import escape

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
