"""Join the page's modules into one script, and its style sheets into one: a browser then asks once for each.

The files stay modules for readers, editors and type checkers. Each becomes a function that is called once, in the order
of the imports; comments and indentation are for readers of the files, and are not sent.
"""

import re
from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter

_IMPORT = re.compile(r'^import (?:\* as (?P<whole>\w+)|\{(?P<names>[^}]*)\}) from "\./(?P<module>[\w-]+\.js)";$', re.M)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (?P<name>\w+))", re.M)
_UNKNOWN = re.compile(r"^(?:import|export)\b.*", re.M)
_STYLE_COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*\*/")
_COMMENT = re.compile(r"^[ \t]*//.*$|(?<=[;{}]) // .*$|/\*\* (?:[^*]|\*(?!/))*\*/ ?", re.M)
_BLANK = re.compile(r"^[ \t]+|^[ \t]*\n", re.M)


def join_modules(sources: Mapping[str, str]) -> str:
    """Return one module that does what all of them do; `sources` has the text of each by its name in one folder.

    Raises:
        ValueError: a module imports or exports in a form that is not known here.
        graphlib.CycleError: modules import each other.
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
