"""Draw how a figure grows with the number of chunks, both on logarithmic scales, as an SVG file."""

import math
from collections.abc import Mapping, Sequence
from html import escape

SIDE, HEIGHT, LEFT, TOP = 420, 260, 70, 40
COLOURS = ("#1f6f8b", "#b3541e", "#4b7a2b")
DASHES = ("", "8 3", "2 3")
INK = "#5b6770"  # Read on a white and on a dark page.

Points = Sequence[tuple[float, float]]


def growth_plot(lines: Mapping[str, Points], *, title: str) -> str:
    """Return a picture with a line for each name through its (chunks, value) points, values above 0."""
    xs, ys = ([point[axis] for points in lines.values() for point in points] for axis in (0, 1))
    across, up = _decades(xs), _decades(ys)
    body = [_text(LEFT, 20, title)]
    for power in range(across[0], across[1] + 1):
        x = _at(10.0**power, across, LEFT, SIDE)
        body += [_rule(x, TOP, x, TOP + HEIGHT), _text(x, TOP + HEIGHT + 20, f"{10**power:,}", "middle")]
    for power in range(up[0], up[1] + 1):
        y = TOP + HEIGHT - _at(10.0**power, up, 0, HEIGHT)
        body += [_rule(LEFT, y, LEFT + SIDE, y), _text(LEFT - 8, y + 4, f"{10.0**power:g}", "end")]
    body.append(_text(LEFT + SIDE / 2, TOP + HEIGHT + 42, "chunks", "middle"))
    for place, (name, points) in enumerate(lines.items()):
        drawn = [(_at(x, across, LEFT, SIDE), TOP + HEIGHT - _at(y, up, 0, HEIGHT)) for x, y in sorted(points)]
        body += _line(place, name, drawn)
    width, height = LEFT + SIDE + 170, TOP + HEIGHT + 54
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="system-ui, sans-serif" font-size="13" role="img">\n<title>{escape(title)}</title>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )


def _decades(values: Sequence[float]) -> tuple[int, int]:
    return math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))


def _at(value: float, decades: tuple[int, int], start: float, length: float) -> float:
    first, last = decades
    return start + length * (math.log10(value) - first) / max(last - first, 1)


def _line(place: int, name: str, drawn: Points) -> list[str]:
    colour, dash = COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in drawn)
    style = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"'
    left, y = LEFT + SIDE + 16, TOP + 14 + 22 * place
    return [
        f'<polyline points="{path}" fill="none" {style}/>',
        *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in drawn),
        f'<line x1="{left}" y1="{y}" x2="{left + 24}" y2="{y}" {style}/>',
        _text(left + 30, y + 4, name),
    ]


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{INK}" stroke-opacity="0.25"/>'


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{INK}">{escape(words)}</text>'
