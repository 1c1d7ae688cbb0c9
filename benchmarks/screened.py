"""Count the passages of folders that are hidden from the model: `python -m benchmarks.screened FOLDER ...`."""

import sys
from pathlib import Path

from app.wings.safety.injection import Scanner
from chains.ingestion.chunks import Chunker
from chains.safety.screening import suspicious_chunks


def main() -> None:
    """Print a line for each folder: its passages, those that are hidden, and the words for which they are."""
    scanner, chunker = Scanner(), Chunker()
    for folder in map(Path, sys.argv[1:]):
        passages, words = 0, list[str]()
        for file in sorted(folder.rglob("*.md")):
            texts = [chunk.text for chunk in chunker.split_markdown(file.read_text("utf-8", errors="replace"))]
            passages += len(texts)
            words += suspicious_chunks(texts, scanner.suspicious_words).values()
        print(f"{folder.name}: {len(words)} of {passages} passages hidden {words or ''}".rstrip(), flush=True)


if __name__ == "__main__":
    main()
