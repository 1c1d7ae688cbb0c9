"""Hold a streamed answer back from an opening bracket until it closes, so that no marker is shown half."""

import re
from collections.abc import Sequence

from chains.citations.markers import BRACKETS, LONGEST_MARKER, OPENING, OPENING_BRACKETS

_BACKTICKS = re.compile("`+")


class MarkerBuffer:
    """Hold text back from an opening bracket until it closes; change nothing."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """Take the next piece, and return what can be shown."""
        self._held += piece
        cut = self._opened_at()
        shown, self._held = self._held[:cut], self._held[cut:]
        return shown

    def flush(self) -> str:
        """Return the rest, once the answer has ended."""
        rest, self._held = self._held, ""
        return rest

    def _opened_at(self) -> int:
        open_at: list[tuple[str, int]] = []
        for found in BRACKETS.finditer(self._held):
            bracket = found.group()
            if bracket.startswith("\\"):
                continue
            if bracket in OPENING_BRACKETS:
                open_at.append((bracket, found.start()))
            elif bracket not in OPENING:
                open_at.clear()
            elif self._closes(bracket, found.start(), open_at):
                open_at.pop()
        waiting = [start for _, start in open_at if len(self._held) - start <= LONGEST_MARKER]
        ends_in_escape = self._held.endswith("\\")
        return waiting[0] if waiting else len(self._held) - ends_in_escape

    def _closes(self, bracket: str, at: int, open_at: Sequence[tuple[str, int]]) -> bool:
        if not open_at or open_at[-1][0] != OPENING[bracket]:
            return False
        return not _ends_in_code(self._held[open_at[-1][1] : at])


def _ends_in_code(text: str) -> bool:
    """Return whether a code span is open at the end: a bracket in it closes nothing."""
    opened = ""
    for run in _BACKTICKS.findall(text):
        opened = "" if run == opened else opened or run
    return bool(opened)
