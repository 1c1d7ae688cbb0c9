"""What is read beside files of this machine: web sites, and buckets (s3://, gs:// and az://), by fsspec."""

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

import fsspec

from app.ports import OpenedSource
from app.settings import Settings
from app.wings.sources.site import Site
from app.wings.sources.web_client import MAX_BYTES, TIMEOUT_S, PublicTransport, WebClient, save
from chains.errors import IngestionError
from chains.ingestion.mirror import Copy, RemoteDocument, Unread, is_safe_name

DELAY_S = 0.5  # Between two requests to a site; its own crawl delay takes precedence where it is longer.


def bucket(_settings: Settings, address: str, endings: Collection[str]) -> OpenedSource:
    opened = Bucket(address, endings)
    parts = urlsplit(address)
    folder = _folder(parts.scheme, parts.netloc, parts.path)
    return OpenedSource(opened, *((folder.parent, folder.name) if opened.is_file else (folder, "")))


def site(settings: Settings, address: str, endings: Collection[str]) -> OpenedSource:
    transport = PublicTransport(allow_private=settings.ingestion.web_allow_private)
    opened = Site(address, WebClient(transport, DELAY_S), endings)
    folder = _folder(urlsplit(address).scheme, opened.host, opened.folder)
    name = PurePosixPath(unquote(urlsplit(address).path)).name if opened.is_file else ""
    return OpenedSource(opened, folder, name)


def _folder(scheme: str, place: str, path: str) -> Path:
    names = [name for name in path.split("/") if name not in {"", ".", ".."}]
    return Path(scheme, place.replace(":", "_"), *names)


EXTRAS = {"s3": "s3", "gs": "gcs", "az": "azure"}
# Fields that show a change, the best first; each service has its own name for them.
MARKS = ("ETag", "etag", "md5Hash", "generation", "LastModified", "last_modified", "updated", "mtime")
PART_BYTES = 2**20
# Beside documents: what of the folder is no knowledge, and what it cannot answer.
ALSO = {".waypointignore", "scope.yaml"}


@dataclass
class Bucket:
    """The documents below an address like s3://bucket/folder, or the one at it.

    The address holds no key and no password: the services' own variables and files do. Raise IngestionError if the
    package that speaks to the service is not installed.
    """

    address: str
    endings: Collection[str]
    is_complete: bool = field(default=True, init=False)
    _files: Any = field(init=False, repr=False)
    _root: str = field(init=False)

    def __post_init__(self) -> None:
        scheme = self.address.partition("://")[0]
        # How long one request may take, as each service's package calls it; gcsfs would wait for ever.
        waits = {"connect_timeout": TIMEOUT_S, "read_timeout": TIMEOUT_S}
        patience: dict[str, dict[str, Any]] = {
            "s3": {"config_kwargs": waits},
            "gs": {"requests_timeout": TIMEOUT_S},
            "az": {"connection_timeout": TIMEOUT_S, "read_timeout": TIMEOUT_S},
        }
        options = {"use_listings_cache": False, "skip_instance_cache": True} | patience[scheme]
        # Else gcsfs asks over gRPC what kind of bucket it is, and waits for a minute where no one answers that.
        fsspec.register_implementation("gs", "gcsfs.core.GCSFileSystem", clobber=True)
        try:
            with _translated("be opened"):
                self._files, root = fsspec.url_to_fs(self.address, **options)
                if scheme == "gs":
                    self._files.credentials.maybe_refresh()  # Refused later, it would be tried again for a minute.
        except ImportError as error:
            extra = EXTRAS[scheme]
            msg = f"{scheme}:// needs the extra {extra!r}: pip install 'waypoint-copilot[{extra}]'"
            raise IngestionError(msg) from error
        self._root = root.rstrip("/")

    @property
    def is_file(self) -> bool:
        with _translated("be read"):
            return PurePosixPath(self._root).suffix.lower() in self.endings and bool(self._files.isfile(self._root))

    def documents(self, known: Mapping[str, Copy], folder: Path) -> Iterator[RemoteDocument | Unread]:
        """Yield the documents, folder by folder. Raise IngestionError if they cannot be listed."""
        scheme = self.address.partition("://")[0]
        for name, about in self._listed():
            address, path = f"{scheme}://{about['name']}", PurePosixPath(name)
            if path.name not in ALSO and path.suffix.lower() not in self.endings:
                yield Unread(address, f"no loader reads {path.suffix or 'files without an ending'}", on_purpose=True)
            elif not is_safe_name(name):
                yield Unread(address, "its name cannot be that of a file here; rename it")
            elif (about.get("size") or 0) > MAX_BYTES:
                yield Unread(address, f"it is larger than {MAX_BYTES // 2**20} MB")
            else:
                try:
                    yield self._document(name, address, about, known.get(address), folder)
                except IngestionError as error:
                    yield Unread(address, str(error))

    def _listed(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the name of each file below the root and what the service tells of it."""
        with _translated("be listed"):
            if self.is_file:
                about = self._files.info(self._root)
                yield PurePosixPath(self._root).name, about
                return
            for _, _, files in self._files.walk(self._root, detail=True, on_error="raise"):
                for about in files.values():
                    if not about["name"].endswith("/"):
                        yield about["name"].removeprefix(f"{self._root}/"), about

    def _document(
        self, name: str, address: str, about: Mapping[str, Any], before: Copy | None, folder: Path
    ) -> RemoteDocument:
        mark = _mark(about)
        fingerprint = json.dumps([mark, about.get("size")])
        if mark and before is not None and before.fingerprint == fingerprint:
            return RemoteDocument(before.name, address, fingerprint, None)
        path = about["name"]
        with _translated("be fetched"), self._files.open(path, "rb") as content:
            file = save(self._parts(content, path), folder)
        return RemoteDocument(name, address, fingerprint, file)

    def _parts(self, content: Any, path: str) -> Iterator[bytes]:
        """Yield what an object holds; a large one is read in several requests, which may meet another version."""
        yield from iter(lambda: content.read(PART_BYTES), b"")
        if _mark(self._files.info(path)) != _mark(content.details):
            raise IngestionError("it changed while it was fetched; ingest it again")


def _mark(about: Mapping[str, Any]) -> str:
    """Return the version of an object, such as its ETag; empty if the service gives none."""
    return next((str(about[mark]) for mark in MARKS if about.get(mark)), "")


@contextmanager
def _translated(what: str) -> Iterator[None]:
    """Say what failed without the service's own words, which may hold a key."""
    try:
        yield
    except (IngestionError, ImportError, GeneratorExit):
        raise
    except Exception as error:  # Each service has errors of its own, and none a common parent.
        msg = f"it cannot {what} ({type(error).__name__}); check the address, and the credentials of its service"
        raise IngestionError(msg) from error
