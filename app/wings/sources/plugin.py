"""What is read beside files of this machine: buckets, by fsspec, and web sites."""

from collections.abc import Collection
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from app.ports import OpenedSource
from app.settings import Settings
from app.wings.sources.bucket import Bucket
from app.wings.sources.public_network import PublicTransport
from app.wings.sources.settings import SourceSettings
from app.wings.sources.site import Site
from app.wings.sources.web_client import WebClient


def bucket(settings: Settings, address: str, endings: Collection[str]) -> OpenedSource:
    """Return the bucket of an address like s3://name/folder."""
    chosen = settings.wing(SourceSettings)
    opened = Bucket(address, endings, chosen.max_mb * 2**20, chosen.timeout_s)
    parts = urlsplit(address)
    folder = _folder(parts.scheme, parts.netloc, parts.path)
    if opened.is_file:
        return OpenedSource(opened, folder.parent, folder.name)
    return OpenedSource(opened, folder, "")


def site(settings: Settings, address: str, endings: Collection[str]) -> OpenedSource:
    """Return the web site of an address, or the one file of it."""
    chosen = settings.wing(SourceSettings)
    client = WebClient(
        PublicTransport(allow_private=chosen.web_allow_private),
        chosen.max_mb * 2**20,
        chosen.timeout_s,
        chosen.web_delay_s,
    )
    opened = Site(address, client, endings, chosen.web_max_pages, chosen.web_max_depth)
    folder = _folder(opened.scope.scheme, opened.scope.host, opened.scope.folder)
    name = PurePosixPath(unquote(urlsplit(address).path)).name if opened.is_file else ""
    return OpenedSource(opened, folder, name)


def _folder(scheme: str, place: str, path: str) -> Path:
    names = [name for name in path.split("/") if name not in {"", ".", ".."}]
    return Path(scheme, place.replace(":", "_"), *names)
