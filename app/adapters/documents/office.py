"""Read what documents of office programs say of themselves: the title and the day of the last change."""

from zipfile import ZipFile

from bs4 import BeautifulSoup

from chains.ingestion.source import without_controls

PROPERTIES = "docProps/core.xml"


def office_properties(archive: ZipFile) -> dict[str, str]:
    """Return the `title` and the day of `last_updated`, where the document states them.

    The libraries of the formats are not asked: they put today's date where there is none.
    """
    if PROPERTIES not in archive.namelist():
        return {}
    tree = BeautifulSoup(archive.read(PROPERTIES), "lxml-xml")
    stated = {entry.name: " ".join(without_controls(entry.get_text()).split()) for entry in tree.find_all(True)}
    found = {"title": stated.get("title", ""), "last_updated": stated.get("modified", "")[:10]}
    return {name: value for name, value in found.items() if value}
