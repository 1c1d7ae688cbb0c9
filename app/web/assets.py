"""The files of the page, read and joined once, at addresses that change with what is in them.

The sources stay modules for readers, editors and type checkers; a browser asks once for all scripts and once for all
styles. Each module becomes a function that is called once, in the order of the imports; comments and indentation are
not sent.
"""

import gzip
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from hashlib import sha256
from pathlib import Path

FOLDER = Path(__file__).parent / "static"
MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".png": "image/png", ".svg": "image/svg+xml"}
SCRIPT, STYLE = "page.js", "page.css"
# The order in which styles apply; others follow by name.
FIRST_STYLES = ("tokens.css", "layout.css")

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
    """Return the files that browsers ask for, by their path below `/static/`: each kind of source in one."""
    script = join_modules(modules())
    return {SCRIPT: asset(script.encode(), ".js"), STYLE: asset(join_styles(styles()).encode(), ".css")}


def modules() -> Mapping[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted((FOLDER / "js").glob("*.js"))}


def styles() -> list[str]:
    found = {path.name: path.read_text(encoding="utf-8") for path in sorted((FOLDER / "css").glob("*.css"))}
    return [found.pop(name) for name in FIRST_STYLES] + list(found.values())


def asset(content: bytes, ending: str) -> Asset:
    etag = sha256(content).hexdigest()[:12]
    return Asset(content, MEDIA_TYPES[ending], f'"{etag}"', gzip.compress(content, mtime=0))


@cache
def version() -> str:
    """Return the part of the addresses that changes when any file does."""
    return "v-" + sha256("".join(asset.etag for asset in assets().values()).encode()).hexdigest()[:12]


def address(path: str) -> str:
    return f"static/{version()}/{path}"


def find(path: str) -> tuple[Asset | None, bool]:
    """Return the file at a path below `/static/`, and whether it will never be another one at this address."""
    versioned = _VERSIONED.match(path)
    asset = assets().get(path[versioned.end() :] if versioned else path)
    return asset, bool(versioned) and path.startswith(version())


_IMPORT = re.compile(r'^import (?:\* as (?P<whole>\w+)|\{(?P<names>[^}]*)\}) from "\./(?P<module>[\w-]+\.js)";$', re.M)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (?P<name>\w+))", re.M)
_UNKNOWN = re.compile(r"^(?:import|export)\b.*", re.M)
_STYLE_COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*\*/")
_COMMENT = re.compile(r"^[ \t]*//.*$|(?<=[;{}]) // .*$|/\*\* (?:[^*]|\*(?!/))*\*/ ?", re.M)
_BLANK = re.compile(r"^[ \t]+|^[ \t]*\n", re.M)


def join_modules(sources: Mapping[str, str]) -> str:
    """Return one module that does what all of them do; `sources` has the text of each by its name in one folder.

    Raise ValueError if a module imports or exports in a form that is not known here; graphlib.CycleError if modules
    import each other.
    """
    order: TopologicalSorter[str] = TopologicalSorter()
    for name, source in sources.items():
        order.add(name, *(found["module"] for found in _IMPORT.finditer(source)))
    return "".join(_called(name, sources[name]) for name in order.static_order())


def join_styles(sources: Sequence[str]) -> str:
    return _BLANK.sub("", _STYLE_COMMENT.sub("", "\n".join(sources)))


def _called(name: str, source: str) -> str:
    """Return a module as a function that is called at once and returns what the module exports."""
    exported = ", ".join(found["name"] for found in _EXPORT.finditer(source))

    def taken(found: re.Match[str]) -> str:
        names = found["whole"] or f"{{{found['names'].replace(' as ', ': ')}}}"
        return f"const {names} = {_variable(found['module'])};"

    body = _EXPORT.sub("", _IMPORT.sub(taken, source))
    if unknown := _UNKNOWN.search(body):
        msg = f'{name}: {unknown[0]!r} cannot be joined; write `import {{a}} from "./b.js";` or `export function`'
        raise ValueError(msg)
    bare = _BLANK.sub("", _COMMENT.sub("", body))
    return f"const {_variable(name)} = (() => {{\n{bare}return {{ {exported} }};\n}})();\n"


def _variable(module: str) -> str:
    return f"${module.removesuffix('.js').replace('-', '_')}"
