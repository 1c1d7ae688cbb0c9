"""Draw a page of a PDF file as a PNG picture, by pdfium."""

import struct
import zlib

import numpy as np
import pypdfium2
from numpy.typing import NDArray

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
