"""Read the words of pages that are pictures, by the program tesseract, which Debian and others package."""

import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pypdfium2

from app.adapters.documents.page_worker import drawn_page
from app.adapters.documents.pdf import RecognitionError
from app.adapters.documents.pdf_lines import Line
from chains.ingestion.source import storable

# Dots an inch: what tesseract's makers advise.
FINENESS = 300
POINTS = 72
# A page of letters takes a few seconds; what takes longer is a photograph.
PAGE_S = 30
# All lines have one height, so that none is a heading by its size.
HEIGHT = 1.0


@dataclass
class Tesseract:
    """Reads the pages of one file with `program`, for `seconds` in all; `languages` are tesseract's, as `eng+deu`."""

    program: str
    languages: str
    seconds: float
    _ends: float = field(init=False)

    def __post_init__(self) -> None:
        self._ends = time.monotonic() + self.seconds

    def lines(self, page: pypdfium2.PdfPage) -> list[Line]:
        left = min(PAGE_S, self._ends - time.monotonic())
        if left <= 0:
            raise RecognitionError("was not read: the time for the scanned pages of this file is over; split it")
        command = [self.program, "stdin", "stdout", "-l", self.languages]
        try:
            found = subprocess.run(  # noqa: S603 - the program that the settings found.
                command, input=drawn_page(page, FINENESS / POINTS), capture_output=True, timeout=left, check=True,
                env={"OMP_THREAD_LIMIT": "1"},
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise RecognitionError(f"was not read: tesseract took more than {left:.0f} s") from error
        except (OSError, subprocess.CalledProcessError) as error:
            msg = (
                f"was not read: tesseract failed; is its language {self.languages!r} installed (INGEST_OCR_LANGUAGES)?"
            )
            raise RecognitionError(msg) from error
        return list(_lines(storable(found.stdout.decode("utf-8", "replace"))))


def _lines(text: str) -> Iterator[Line]:
    """Yield the lines one below the other, with a gap where tesseract leaves an empty line between paragraphs."""
    for place, words in enumerate(text.replace("\f", "").split("\n")):
        if shown := " ".join(words.split()):
            yield Line(shown, HEIGHT, bold=False, left=0, bottom=-place - HEIGHT, right=1, top=-place)
