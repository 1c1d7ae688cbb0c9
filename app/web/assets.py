"""The files of the page, read once, at addresses that change with what is in them."""

import gzip
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

FOLDER = Path(__file__).parent / "static"
MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
# The order in which styles apply; others follow by name.
FIRST_STYLES = ("css/tokens.css", "css/layout.css")

# Indentation is for readers of the files, and is not sent.
_INDENTATION = re.compile(rb"^[ \t]+", re.MULTILINE)
_VERSIONED = re.compile(r"v-[0-9a-f]{12}/")


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is sent."""

    content: bytes
    media_type: str
    etag: str
    gzipped: bytes


@cache
def assets() -> Mapping[str, Asset]:
    """Return every file by its path below the folder `static`, without indentation."""
    files = sorted(path for path in FOLDER.rglob("*") if path.suffix in MEDIA_TYPES)
    return {path.relative_to(FOLDER).as_posix(): _read(path) for path in files}


def _read(path: Path) -> Asset:
    content = _INDENTATION.sub(b"", path.read_bytes())
    return _asset(content, path.suffix)


def script(text: str) -> Asset:
    """Return a script that is no file."""
    return _asset(text.encode(), ".js")


def _asset(content: bytes, ending: str) -> Asset:
    return Asset(content, MEDIA_TYPES[ending], f'"{_hash(content)}"', gzip.compress(content, mtime=0))


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()[:12]


@cache
def version() -> str:
    """Return the part of the addresses that changes when any file does: modules import each other by relative ones."""
    return "v-" + _hash("".join(asset.etag for asset in assets().values()).encode())


def address(path: str) -> str:
    """Return the address of a file, relative to the page."""
    return f"static/{version()}/{path}"


def find(path: str) -> tuple[Asset | None, bool]:
    """Return the file at a path below `/static/`, and whether it will never be another one at this address."""
    versioned = _VERSIONED.match(path)
    asset = assets().get(path[versioned.end() :] if versioned else path)
    return asset, bool(versioned) and path.startswith(version())


def styles() -> list[str]:
    """Return the paths of the style sheets, in the order in which they apply."""
    others = [path for path in assets() if path.endswith(".css") and path not in FIRST_STYLES]
    return [*FIRST_STYLES, *others]


def modules() -> list[str]:
    """Return the paths of the page's modules."""
    return [path for path in assets() if path.startswith("js/")]
