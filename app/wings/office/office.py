"""Open the archives that documents of office programs are, and read their title and the day of the last change."""

import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from typing import IO, Any
from zipfile import ZipFile

from bs4 import BeautifulSoup

from chains.errors import ConfigurationError, IngestionError
from chains.ingestion.source import given, own_title
from chains.ingestion.statements import plain_name, strictest
from chains.ingestion.tables import one_line

UNPACKED_BYTES = 32 * 2**20


def open_archive(file: IO[bytes], *, besides: tuple[str, ...] = ()) -> zipfile.ZipFile:
    """Open an archive that unpacks to little; entries whose names begin or end with one of `besides` do not count.

    An entry that says it is smaller than it is reads as damaged, so that the sizes can be believed. Raise
    IngestionError if it unpacks to too much; other errors mean damage.
    """
    archive = zipfile.ZipFile(file)
    counted = (entry for entry in archive.infolist() if not entry.filename.startswith(besides))
    if sum(entry.file_size for entry in counted if not entry.filename.endswith(besides)) > UNPACKED_BYTES:
        raise IngestionError(f"the document unpacks to more than {UNPACKED_BYTES // 2**20} MB; split it")
    return archive


PROPERTIES = "docProps/core.xml"


def office_properties(archive: ZipFile) -> dict[str, str]:
    """Return the `title`, the `file_date` and the `audience`, where the document states them.

    The libraries of the formats are not asked: they put today's date where there is none.
    """
    stated = {str(entry.name): one_line(entry.get_text()) for entry in xml_of(archive, PROPERTIES).find_all(True)}
    own = xml_of(archive, "docProps/custom.xml").find_all(True)
    audiences = [one_line(entry.get_text()) for entry in own if plain_name(entry.get("name")) == "audience"]
    title, changed = own_title(stated.get("title", "")), stated.get("modified", "")[:10]
    return given(title=title, file_date=changed, audience=strictest(audiences))


def xml_of(archive: ZipFile, name: str) -> Any:
    """Return a part of an archive as XML; empty where there is none."""
    return BeautifulSoup(archive.read(name) if name in archive.namelist() else b"", "lxml-xml")


def trials(_settings: object) -> Iterator[Any]:
    from app.ports import Trial  # noqa: PLC0415 - The process that reads documents does without, and LangChain with it.

    yield Trial("office files", _installed, "pip install 'waypoint-copilot[office]'", required=False)


def _installed() -> str:
    if missing := [package for package in ("mammoth", "openpyxl", "pptx") if find_spec(package) is None]:
        raise ConfigurationError(f"Word, Excel and PowerPoint files are not read: {', '.join(missing)} not installed")
    return "Word, Excel and PowerPoint files are read"
