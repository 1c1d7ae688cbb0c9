"""Choose the source for an address, and mirror its documents into a folder beside the index."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from app import hooks
from app.ports import OpenedSource
from app.settings import Settings
from app.wiring.library import folder_beside
from app.wiring.storage import parser
from chains.errors import IngestionError
from chains.ingestion.mirror import Mirrored, mirror

if TYPE_CHECKING:
    from chains.ports import Progress

ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")


@dataclass
class Fetched:
    """Local folders and files, and the report on those that were fetched."""

    paths: list[Path] = field(default_factory=list)
    copies: Mirrored = field(default_factory=Mirrored)


def is_address(given: Path | str) -> bool:
    """Return whether a text is an address like s3://bucket rather than a path."""
    return isinstance(given, str) and ADDRESS.match(given) is not None


def fetch(settings: Settings, given: Sequence[Path | str], progress: "Progress | None") -> Fetched:
    """Return the paths; for each address, the folder with updated copies of its documents.

    Raises:
        IngestionError: an address cannot be read, or another process fetches it.
    """
    fetched = Fetched()
    for one in given:
        if not is_address(one):
            fetched.paths.append(Path(one))
            continue
        path, copies = _fetch(settings, str(one), progress)
        fetched.paths.append(path)
        fetched.copies.addresses.update(copies.addresses)
        fetched.copies.problems.extend(copies.problems)
        fetched.copies.skipped.extend(copies.skipped)
    return fetched


def _fetch(settings: Settings, address: str, progress: "Progress | None") -> tuple[Path, Mirrored]:
    scheme, shown = _checked(address)
    base = folder_beside(settings, settings.of_variable("sources_path"), "sources")
    records = base / "records" / f"{hashlib.sha256(address.rstrip('/').encode()).hexdigest()[:16]}.sqlite3"
    records.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(records.with_suffix(".lock"), timeout=0):
            source, folder, name = _opened(settings, scheme, address)
            copies = mirror(source, base / "files" / folder, records, progress=progress)
    except Timeout as error:
        msg = f"{shown}: another process is fetching it"
        raise IngestionError(msg) from error
    except IngestionError as error:
        msg = f"{shown}: {error}"
        raise IngestionError(msg) from error
    return base / "files" / folder / name, copies


def _checked(address: str) -> tuple[str, str]:
    """Return the scheme, and the address for messages.

    Raises:
        IngestionError: it contains a user name or a key, or its scheme is unknown.
    """
    parts = urlsplit(address)
    if parts.scheme not in (schemes := hooks.names("sources")):
        msg = f"{parts.scheme}:// cannot be read; an address begins with {', '.join(f'{one}://' for one in schemes)}"
        raise IngestionError(msg)
    if "@" in parts.netloc:
        msg = "addresses are stored and shown, so leave out user names and keys"
        raise IngestionError(msg)
    if not parts.netloc:
        msg = f"{parts.scheme}:// needs a bucket or a host"
        raise IngestionError(msg)
    return parts.scheme, f"{parts.scheme}://{parts.netloc}{parts.path}"


def _opened(settings: Settings, scheme: str, address: str) -> OpenedSource:
    opened: OpenedSource = hooks.load("sources", scheme)(settings, address, parser(settings).endings)
    return opened
