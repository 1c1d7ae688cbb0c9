"""The process that turns pages of hostile PDF files into pictures, by pdfium; `pages.py` starts it."""

import struct
import zlib
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2
from numpy.typing import NDArray

from app.adapters.documents.pdf import open_pdf, page_lines
from app.adapters.documents.pdf_tables import with_tables
from app.adapters.documents.process import run
from chains.text.letters import letters, placed_letters

# A page may be a thousand times as high as it is wide.
MOST_PIXELS = 6_000_000
MOST_PIXELS_OF_A_SCAN = 12_000_000


def drawn_page(page: pypdfium2.PdfPage, scale: float, *, most_pixels: int = MOST_PIXELS_OF_A_SCAN) -> bytes:
    """Return the page `scale` pixels a point, or fewer where it would have more than `most_pixels`."""
    wide, high = page.get_size()
    scale = min(scale, (most_pixels / (wide * high)) ** 0.5)
    pixels = page.render(scale=scale, rev_byteorder=True, may_draw_forms=False).to_numpy()
    return png(pixels[:, :, :3])


def png(pixels: NDArray[np.uint8]) -> bytes:
    """Return an RGB picture as PNG: a filter byte of 0 before each row, and the rows compressed."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + width * 3), dtype=np.uint8)
    rows[:, 1:] = pixels.reshape(height, width * 3)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )


# The wanted words of a longer page are looked for in its first characters only.
MOST_CHARACTERS = 200_000
FEWEST_LETTERS = 12
FINENESS = 10_000  # Positions are counted in so many steps across the page.


def answer(task: dict[str, Any]) -> dict[str, Any]:
    """Return what is asked for of one page, as far as the file still holds the page that was indexed."""
    try:
        with open_pdf(Path(task["path"])) as document:
            number, chunks = task["page"], task["chunks"]
            lines, _ = (page_lines(document, number - 1) if 0 < number <= len(document) else None) or ([], [])
            [written] = with_tables([lines])
            text = letters("".join(line.text for line in written))  # A scan has none that could be compared.
            has_words = not text or (chunks and all(letters(chunk) in text for chunk in chunks))
            if not 0 < number <= len(document) or not has_words:
                return {"problem": "the file has changed"}
            page = document[number - 1]
            if "width" not in task:
                return {"pages": len(document), **_words(page, task["quote"])}
            drawn = drawn_page(page, task["width"] / page.get_size()[0], most_pixels=MOST_PIXELS)
            return {"pages": len(document), "png": b64encode(drawn).decode("ascii")}
    except MemoryError:
        return {"problem": "the page takes too much memory"}
    except Exception as error:  # Whatever a hostile file makes a library do, the next page is shown.
        return {"problem": f"the page cannot be drawn ({type(error).__name__})"}


def _words(page: pypdfium2.PdfPage, quote: str) -> dict[str, Any]:
    wide, high = page.get_size()
    text = page.get_textpage()
    count = min(text.count_chars(), MOST_CHARACTERS)
    # One character for each of pdfium's, because its own text leaves some out.
    shown = "".join(chr(pypdfium2.raw.FPDFText_GetUnicode(text, number)) for number in range(count))
    across, down = FINENESS, max(1, round(FINENESS * high / wide))
    position = pypdfium2.PdfPosConv(page, (0, 0, across, down, 0))
    boxes = []  # Left, top, width and height in parts of the page as it is seen; pdfium counts points from below.
    for start, end in _ranges(shown, quote):
        for number in range(text.count_rects(start, end - start)):
            box = text.get_rect(number)
            corners = [position.to_bitmap(*box[:2]), position.to_bitmap(*box[2:])]
            (left, right), (top, bottom) = (sorted(values) for values in zip(*corners, strict=True))
            parts = (left / across, top / down, (right - left) / across, (bottom - top) / down)
            boxes.append([round(part, 4) for part in parts])
    return {"width": round(wide, 2), "height": round(high, 2), "words": [box for box in boxes if box[2] and box[3]]}


def _ranges(text: str, quote: str) -> Iterator[tuple[int, int]]:
    """Yield where the quote stands in the page's text, or else those of its lines that are found."""
    shown = list(placed_letters(text))
    plain = "".join(letter for letter, _ in shown)
    wanted = letters(quote)
    lines = [line for line in map(letters, quote.splitlines()) if len(line) >= FEWEST_LETTERS]
    for words in [wanted] if wanted in plain else lines:
        start = plain.find(words)
        if words and start >= 0:
            yield shown[start][1], shown[start + len(words) - 1][1] + 1


if __name__ == "__main__":
    run(answer)
