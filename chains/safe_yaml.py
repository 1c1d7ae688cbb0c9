"""Read YAML that a stranger may have written: bounded in length, depth and values, and every value stays text."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import yaml
from yaml import MappingNode, Node, ScalarNode, SequenceNode

MOST_CHARACTERS: Final = 2**20
MOST_VALUES: Final = 50_000  # An alias counts as often as it is used, with all that it stands for.
MAX_DEPTH: Final = 10
# libyaml, where PyYAML has it, reads ten times as fast.
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULL: Final = {"", "~", "null", "Null", "NULL"}

Pairs = Sequence[tuple[Any, Any]]


class YamlError(ValueError):
    """The text cannot be read: `problem` continues "the file ...", and `line` counts from 1."""

    def __init__(self, problem: str, line: int = 1, *, is_too_large: bool = False) -> None:
        super().__init__(f"line {line}: it {problem}")
        self.problem, self.line, self.is_too_large = problem, line, is_too_large


def read_values(text: str, *, most_values: int = MOST_VALUES, object_pairs_hook: Callable[[Pairs], Any] = dict) -> Any:
    """Return the strings, lists and mappings of a text, and None where a value is empty.

    Dates and numbers stay as they are written, and `<<` merges nothing.

    Args:
        text: one document of YAML.
        most_values: more are refused.
        object_pairs_hook: makes a mapping of its names and values, as that of `json.loads` does.

    Raises:
        YamlError: it is not valid, or too large.
    """
    return _value(read_nodes(text, most_values=most_values), object_pairs_hook)


def each_once(pairs: Pairs) -> dict[Any, Any]:
    """Return a mapping, for `read_values`, which then refuses a name that stands in it twice."""
    found: dict[Any, Any] = {}
    for name, value in pairs:
        if name in found:
            raise KeyError(name)
        found[name] = value
    return found


def read_nodes(text: str, *, most_values: int = MOST_VALUES) -> Node | None:
    """Return the root of a text, whose nodes know their lines; None where there is nothing.

    Raises YamlError where it is not valid, or too large.
    """
    if len(text) > MOST_CHARACTERS:
        raise YamlError(f"is longer than {MOST_CHARACTERS:,} characters", is_too_large=True)
    try:
        _check_size(text, most_values)
        return yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(f"is not valid YAML ({error.problem})", mark.line + 1 if mark else 1) from error
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        raise YamlError("is not valid YAML (it is not UTF-8 text, or holds a control character)") from error


def _check_size(text: str, most_values: int) -> None:
    """Count values and depth from the parser's events, before any node or alias of them is followed."""
    sizes, opened, anchors = [0], list[str | None](), dict[str | None, int]()
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            sizes.append(0)
            opened.append(event.anchor)
            anchors[event.anchor] = most_values + 1  # Until it is closed an alias of it would hold itself.
        elif isinstance(event, yaml.CollectionEndEvent):
            size = 1 + sizes.pop()
            anchors[opened.pop()] = size
            sizes[-1] += size
        elif isinstance(event, yaml.AliasEvent):
            sizes[-1] += anchors.get(event.anchor, 1)
        elif isinstance(event, yaml.ScalarEvent):
            sizes[-1] += 1
            anchors[event.anchor] = 1
        if sizes[-1] > most_values or len(opened) > MAX_DEPTH:
            msg = f"has more than {most_values} values or is nested too deeply"
            raise YamlError(msg, event.start_mark.line + 1 if event.start_mark else 1, is_too_large=True)


def _value(node: Node | None, object_pairs_hook: Callable[[Pairs], Any]) -> Any:
    if isinstance(node, MappingNode):
        pairs = [(_value(key, object_pairs_hook), _value(value, object_pairs_hook)) for key, value in node.value]
        try:
            return object_pairs_hook(pairs)
        except TypeError as error:
            raise YamlError("has a list or a mapping in the place of a name", node.start_mark.line + 1) from error
        except KeyError as error:
            lines = [key.start_mark.line + 1 for key, _ in node.value if key.value == error.args[0]]
            raise YamlError(f"has {error.args[0]!r} for the second time", lines[1]) from error
    if isinstance(node, SequenceNode):
        return [_value(item, object_pairs_hook) for item in node.value]
    return str(node.value) if isinstance(node, ScalarNode) and (node.style or node.value not in _NULL) else None
