"""The citations of an answer as buttons in its text: `chips`, each with the number of its source."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

# Brackets are punctuation to markdown, as the marker's own are: `**Fee:**[1]` stays bold. The signs between them are
# for private use, and taken out of the answer before.
_OPEN, _CLOSE = "\u2e28\ue000", "\ue001\u2e29"
_PRIVATE = re.compile("[\ue000\ue001]")
_PLACE = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_BRACKETS = re.compile(
    rf"(?:\\\[|[\[【［〔])\s*((?:{_PLACE.pattern}[\s;,；，、&]*(?:and\s+)?)+?)\s*(?:\\\]|[\]】］〕])"
)
# They turn the direction of the text around them, so that it reads as something else than it is.
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_TAG_OR_PLACE = re.compile(rf'<(?:"[^"]*"|[^>"])*>|{_PLACE.pattern}')


@dataclass(frozen=True, slots=True)
class Chip:
    """A button in the text: the range of the answer that it takes the place of, and what it says.

    `number` is None where no document was found; `index` is the citation's place in the list, None while it is unknown.
    """

    start: int
    end: int
    number: int | None
    label: str
    index: int | None = None
    kind: str = ""


def put_placeholders(answer: str, chips: Sequence[Chip]) -> tuple[str, Sequence[Chip]]:
    """Return the answer with a placeholder for each chip, and the chips by the placeholders' numbers."""
    pieces: list[str] = []
    placed: list[Chip] = []
    at = 0
    clean = _PRIVATE.sub("\N{REPLACEMENT CHARACTER}", answer)
    for chip in sorted(chips, key=lambda chip: (chip.start, chip.end)):
        if not at <= chip.start <= chip.end <= len(answer):
            continue  # It overlaps the one before, or lies outside: offsets come from a client.
        pieces += [clean[at : chip.start], f"{_OPEN}{len(placed)}{_CLOSE}"]
        placed.append(chip)
        at = chip.end
    return _BRACKETS.sub(r"\1", "".join([*pieces, clean[at:]])), placed


def place_chips(html: str, chips: Sequence[Chip]) -> str:
    """Return sanitised HTML with the buttons in place of their placeholders; none inside a tag, none inside a link."""
    waiting: list[str] = []
    in_link = False

    def place(found: re.Match[str]) -> str:
        nonlocal in_link
        if found[1] is not None:
            button = _button(chips[int(found[1])]) if int(found[1]) < len(chips) else ""
            waiting.extend([button] * in_link)
            return "" if in_link else button
        tag = _PLACE.sub("", found[0])
        in_link = tag.startswith("<a ") or (in_link and tag != "</a>")
        if in_link:
            return tag
        after, waiting[:] = "".join(waiting), []
        return tag + after

    return _TAG_OR_PLACE.sub(place, html)


def without_bidi(text: str) -> str:
    """Return a text that runs in the direction of its letters."""
    return _BIDI.sub("", text)


def _button(chip: Chip) -> str:
    attributes: Mapping[str, object | None] = {"data-citation": chip.index, "data-kind": chip.kind or None}
    more = "".join(f' {name}="{value}"' for name, value in attributes.items() if value is not None)
    shown = "?" if chip.number is None else chip.number
    return f'<button type="button" class="chip"{more} aria-label="{escape(without_bidi(chip.label))}">{shown}</button>'
