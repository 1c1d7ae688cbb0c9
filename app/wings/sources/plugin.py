"""What is read beside files of this machine: buckets, by fsspec, and web sites."""

from collections.abc import Collection
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from app.ports import OpenedSource
from app.settings import Settings
from app.wings.sources.bucket import Bucket
from app.wings.sources.site import Site
from app.wings.sources.web_client import PublicTransport, WebClient

# Of a file, and for its download.
MAX_BYTES, TIMEOUT_S = 50 * 2**20, 60
# Links from the start page, and the seconds between two requests; a site's own crawl delay takes precedence.
MAX_PAGES, MAX_DEPTH, DELAY_S = 500, 5, 0.5


def bucket(settings: Settings, address: str, endings: Collection[str]) -> OpenedSource:
    del settings
    opened = Bucket(address, endings, MAX_BYTES, TIMEOUT_S)
    parts = urlsplit(address)
    folder = _folder(parts.scheme, parts.netloc, parts.path)
    return OpenedSource(opened, *((folder.parent, folder.name) if opened.is_file else (folder, "")))


def site(settings: Settings, address: str, endings: Collection[str]) -> OpenedSource:
    transport = PublicTransport(allow_private=settings.ingestion.web_allow_private)
    client = WebClient(transport, MAX_BYTES, TIMEOUT_S, DELAY_S)
    opened = Site(address, client, endings, MAX_PAGES, MAX_DEPTH)
    folder = _folder(opened.scope.scheme, opened.scope.host, opened.scope.folder)
    name = PurePosixPath(unquote(urlsplit(address).path)).name if opened.is_file else ""
    return OpenedSource(opened, folder, name)


def _folder(scheme: str, place: str, path: str) -> Path:
    names = [name for name in path.split("/") if name not in {"", ".", ".."}]
    return Path(scheme, place.replace(":", "_"), *names)
