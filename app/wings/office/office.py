"""Read what documents of office programs say of themselves: the title and the day of the last change."""

from collections.abc import Iterator
from typing import Any
from zipfile import ZipFile

from bs4 import BeautifulSoup

from chains.ingestion.source import without_controls
from chains.ingestion.statements import plain_name, strictest

PROPERTIES = "docProps/core.xml"
OWN_PROPERTIES = "docProps/custom.xml"


def office_properties(archive: ZipFile) -> dict[str, str]:
    """Return the `title`, the day of `last_updated` and the `audience`, where the document states them.

    The libraries of the formats are not asked: they put today's date where there is none.
    """
    stated = {str(entry.name): _words(entry) for entry in _entries(archive, PROPERTIES)}
    audiences = [_words(one) for one in _entries(archive, OWN_PROPERTIES) if plain_name(one.get("name")) == "audience"]
    found = {
        "title": stated.get("title", ""),
        "last_updated": stated.get("modified", "")[:10],
        "audience": strictest(audiences),
    }
    return {name: value for name, value in found.items() if value}


def _entries(archive: ZipFile, name: str) -> Iterator[Any]:
    if name in archive.namelist():
        yield from BeautifulSoup(archive.read(name), "lxml-xml").find_all(True)


def _words(entry: Any) -> str:
    return " ".join(without_controls(entry.get_text()).split())
