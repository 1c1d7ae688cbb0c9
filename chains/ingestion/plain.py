"""A file of plain text -> its text, with the file's name for a title."""

from pathlib import Path

from chains.ingestion.source import SourceText, read_text, require_words, title_of

ENDINGS = frozenset({".txt", ".text"})


def load_plain(path: Path) -> SourceText:
    """Read a file of plain text; line ends are read as line feeds.

    Raises:
        IngestionError: the file cannot be read, is no UTF-8 text, or is empty.
    """
    text = read_text(path)
    require_words(text.removeprefix("\ufeff"))
    start = len(text) - len(text.removeprefix("\ufeff"))
    return SourceText(text, start, {"title": title_of(path)}, plain=True)
