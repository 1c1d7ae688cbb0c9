"""Tell the words of a PDF page that nobody sees: white, without ink, tiny, covered or off the page."""

import ctypes
import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

import numpy as np
import pypdfium2
from pypdfium2 import raw

# Letters of these are looked at on the drawn page: lighter than this, fainter than this, or lower in points.
WHITE, FAINT, LOWEST = 235, 20, 1.5
INVISIBLE = 3  # The mode in which text is not drawn, as that of a scan under its picture.
# The pixels of a place where nothing is drawn differ by no more than this.
BLANK = 8
PART_OF_PAGE = 0.5  # A picture of this part of a page is a scan.
MOST_AREAS = 500  # Of a page, that may cover words.

_WORD = re.compile(r"\S+")


@dataclass
class Unseen:
    """Finds the words of one page that nobody sees, and collects them in `texts`."""

    page: pypdfium2.PdfPage
    text: pypdfium2.PdfTextPage
    texts: list[str] = field(default_factory=list)

    def without(self, start: int, letters: str) -> str:
        """Return the letters of a line, which begins at `start`, with blanks in the place of words nobody sees."""
        words = list(_WORD.finditer(letters))
        if not words or not any(
            self._is_suspicious(start + place) for place in (words[0].start(), words[-1].end() - 1)
        ):
            return letters
        shown = list(letters)
        for word in words:
            if self._is_suspicious(start + word.start()) and self._is_blank(start + word.start(), start + word.end()):
                shown[word.start() : word.end()] = " " * len(word[0])
        hidden = " ".join(word[0] for word in words if shown[word.start()] == " ")
        self.texts += [hidden] * bool(hidden)
        return "".join(shown)

    def _is_suspicious(self, number: int) -> bool:
        values = [ctypes.c_uint() for _ in range(4)]
        if not raw.FPDFText_GetFillColor(self.text, number, *values):
            return False
        *colours, opacity = (value.value for value in values)
        left, bottom, right, top = self.text.get_charbox(number)
        crop = self.page.get_cropbox()
        off = right < crop[0] or left > crop[2] or top < crop[1] or bottom > crop[3]
        tiny = 0 < top - bottom < LOWEST and raw.FPDFText_GetFontSize(self.text, number) < LOWEST * 2
        if off or tiny or min(colours) >= WHITE or opacity < FAINT:
            return True
        x, y = (left + right) / 2, (bottom + top) / 2
        if any(area[0] <= x <= area[2] and area[1] <= y <= area[3] for area in self._areas):
            return True
        part = raw.FPDFText_GetTextObject(self.text, number)
        return bool(part) and raw.FPDFTextObj_GetTextRenderMode(part) == INVISIBLE and not self._is_scan

    @cached_property
    def _is_scan(self) -> bool:
        return picture_part(self.page) >= PART_OF_PAGE

    @cached_property
    def _areas(self) -> list[tuple[float, float, float, float]]:
        """Return the filled areas, which may be drawn over words to hide them."""
        areas = []
        for part in islice(self.page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=3), MOST_AREAS):
            fill, stroke = ctypes.c_int(), ctypes.c_int()
            if raw.FPDFPath_GetDrawMode(part, fill, stroke) and fill.value:
                areas.append(part.get_bounds())
        return areas

    @cached_property
    def _pixels(self) -> np.ndarray:
        pixels: np.ndarray = self.page.render(scale=1, grayscale=True, may_draw_forms=False).to_numpy()
        return pixels

    def _is_blank(self, first: int, end: int) -> bool:
        """Say whether the page shows nothing where these letters stand."""
        height, width = self._pixels.shape[:2]
        boxes = [self.text.get_charbox(number) for number in (first, end - 1)]
        place = pypdfium2.PdfPosConv(self.page, (0, 0, width, height, 0))
        corners = [place.to_bitmap(box[side], box[side + 1]) for box in boxes for side in (0, 2)]
        (left, right), (top, bottom) = ((min(values), max(values)) for values in zip(*corners, strict=True))
        region = self._pixels[max(top, 0) : max(bottom + 1, 0), max(left, 0) : max(right + 1, 0)]
        return region.size == 0 or int(region.max()) - int(region.min()) <= BLANK


def picture_part(page: pypdfium2.PdfPage) -> float:
    """Return which part of a page its largest picture covers."""
    width, height = page.get_size()
    boxes = (part.get_bounds() for part in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3))
    areas = (max(0.0, right - left) * max(0.0, top - bottom) for left, bottom, right, top in boxes)
    return float(max(areas, default=0.0) / max(1.0, width * height))
