"""Name the pages of a web site: which addresses belong to it, and what the file of a page is called."""

import hashlib
import mimetypes
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit, urlunsplit

ENDING = re.compile(r"\.[A-Za-z]{2,8}$")
PAGES = {"text/html", "application/xhtml+xml"}
HTML = {".htm", ".html", ".xhtml"}
TYPES = dict.fromkeys(PAGES, ".html") | {
    "application/pdf": ".pdf",
    "text/csv": ".csv",
    "text/markdown": ".md",
    "text/plain": ".txt",
}
NO_DOCUMENTS = ("image/", "audio/", "video/", "font/", "text/css", "text/javascript", "application/javascript")


@dataclass(frozen=True)
class SiteScope:
    """The part of a site that is read: the same host, and below the folder of the address that was given."""

    scheme: str
    host: str
    folder: str

    @classmethod
    def of(cls, address: str) -> "SiteScope":
        """Return the scope of an address; one without an ending is a folder, with a slash or without."""
        parts = urlsplit(address)
        path = parts.path.rpartition("/")[0] if ENDING.search(parts.path) else parts.path
        return cls(parts.scheme, parts.netloc.lower(), path.rstrip("/"))

    def normal(self, address: str) -> str | None:
        """Return an address of this scope in its one form, without a fragment; None for any other."""
        try:
            parts = urlsplit(address)
        except ValueError:
            return None
        path = parts.path or "/"
        inside = path == self.folder or path.startswith(f"{self.folder}/")
        if parts.scheme not in {"http", "https"} or parts.netloc.lower() != self.host or not inside:
            return None
        if mimetypes.guess_type(path)[0] is not None and str(mimetypes.guess_type(path)[0]).startswith(NO_DOCUMENTS):
            return None
        return urlunsplit((self.scheme, self.host, path, parts.query, ""))

    def name(self, address: str, kind: str, endings: Collection[str], taken: Collection[str]) -> str | None:
        """Return the name of the file for what is at an address; None where no loader reads its type.

        `/docs/fees` and `/docs/fees/` are `docs/fees.html`; a query, or a name that is taken, adds a short digest.
        """
        parts = urlsplit(address)
        path = unquote(parts.path.removeprefix(self.folder)).strip("/") or "index"
        ending = PurePosixPath(path).suffix.lower()
        if kind in PAGES:
            wanted = ending if ending in HTML else ".html"
        else:
            wanted = ending if ending in endings else TYPES.get(kind, "")
        if wanted not in endings:
            return None
        stem = path[: -len(ending)] if ending == wanted and ending else path
        digest = hashlib.sha256(address.encode()).hexdigest()[:8]
        name = f"{stem}-{digest}{wanted}" if parts.query else f"{stem}{wanted}"
        return f"{stem}-{digest}{wanted}" if name in taken else name
