"""Measure the reading of one PDF of 1,500 pages: `python -m benchmarks.filings.large`.

The pages are those of the invented reports, several times over. Printed and kept are pages, chunks, seconds and the
most memory that the process held which reads files.
"""

import tempfile
import time
from contextlib import closing
from pathlib import Path

from pypdf import PdfReader, PdfWriter

from app.settings import load_settings
from app.wiring.storage import parser
from benchmarks.figures import write_figures
from benchmarks.filings.reports import write_reports

PAGES = 1500


def write_large(folder: Path) -> Path:
    """Write a PDF of so many pages."""
    files = write_reports(folder)
    writer = PdfWriter()
    while len(writer.pages) < PAGES:
        for file in files:
            reader = PdfReader(file)
            for page in reader.pages[: PAGES - len(writer.pages)]:
                writer.add_page(page)
    large = folder / "large.pdf"
    writer.write(large)
    return large


def peak_mb(process: int) -> float:
    """Return the most memory that a process has held."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 2**10


def main() -> None:
    """Print the figures, and keep them in docs/figures.json."""
    with tempfile.TemporaryDirectory() as folder, closing(parser(load_settings())) as reader:
        large = write_large(Path(folder))
        started = time.perf_counter()
        parsed = reader.parse(large)
        seconds = time.perf_counter() - started
        process = reader.worker.process
        found = {
            "pages": str(len({chunk.page for chunk in parsed.chunks})),
            "file": f"{large.stat().st_size / 2**20:.1f} MB",
            "chunks": str(len(parsed.chunks)),
            "seconds": f"{seconds:.0f}",
            "peak memory": f"{peak_mb(process.pid):.0f} MB" if process else "the process has ended",
        }
        print("\n".join(f"{name}: {value}" for name, value in found.items()))
        write_figures("large_pdf", {"one file": found})


if __name__ == "__main__":
    main()
