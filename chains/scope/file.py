"""Read a scope file (YAML): the intents that no document answers, with examples. Errors name their line."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from math import isnan, nan
from pathlib import Path
from typing import NoReturn

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from chains.errors import ConfigurationError, IngestionError
from chains.regular_files import read_text
from chains.safe_yaml import YamlError, read_nodes

SCOPE_FILE = "scope.yaml"  # In the folder of a knowledge base.
THRESHOLD = 0.42


@dataclass(frozen=True, slots=True)
class Intent:
    """A kind of question that no document answers: examples, and the text that redirects the user, by language too."""

    name: str
    redirect: str
    examples: tuple[str, ...]
    translations: Mapping[str, str] = field(default_factory=dict)

    def redirect_in(self, language: str | None) -> str:
        """Return the redirect in a language such as `id` or `id-ID`, if the file has it."""
        return self.translations.get((language or "").partition("-")[0].lower(), self.redirect)


@dataclass(frozen=True, slots=True)
class ScopeFile:
    """The intents to decline, examples of what is answered, and the score above which a question is declined."""

    intents: tuple[Intent, ...]
    in_scope: tuple[str, ...]
    threshold: float = THRESHOLD


def load_scope(path: Path) -> ScopeFile:
    """Read a scope file.

    Raises:
        ConfigurationError: it cannot be read, or something in it does not fit; the message names the line.
    """
    try:
        return parse_scope(read_text(path), str(path))
    except IngestionError as error:
        msg = f"the scope file {str(path)!r} is of no use: {error}; check SCOPE_FILE"
        raise ConfigurationError(msg) from error


def parse_scope(text: str, name: str) -> ScopeFile:
    """Read the text of a scope file; messages call it by its name.

    Raises:
        ConfigurationError: something in it does not fit; the message names the line.
    """
    return _Reader(text, name).read()


class _Reader:
    """Read one file node by node, because plain values have no line numbers."""

    def __init__(self, text: str, name: str) -> None:
        self._text_of_file = text
        self._name = name

    def read(self) -> ScopeFile:
        root = self._compose()
        top = self._fields(root, needed={"intents", "in_scope"}, allowed={"intents", "in_scope", "threshold"})
        intents = self._mapping(top["intents"], "intents")
        if not intents:
            self._fail(top["intents"], "intents is empty; name at least one, or set SCOPE_FILE=off")
        return ScopeFile(
            intents=tuple(self._intent(name, node) for name, node in intents.items()),
            in_scope=self._texts(top["in_scope"], "in_scope"),
            threshold=self._number(top["threshold"]) if "threshold" in top else THRESHOLD,
        )

    def _compose(self) -> Node:
        try:
            root = read_nodes(self._text_of_file)
        except YamlError as error:
            self._complain(error.line, f"the file {error.problem}")
        if root is None:
            self._complain(1, "the file is empty; it needs intents and in_scope")
        return root

    def _intent(self, name: str, node: Node) -> Intent:
        needed = {"redirect", "examples"}
        fields = self._fields(node, needed=needed, allowed=needed | {"translations"})
        redirect = self._text(fields["redirect"], f"the redirect of {name!r}")
        examples = self._texts(fields["examples"], f"the examples of {name!r}")
        return Intent(name, redirect, examples, self._translations(fields.get("translations"), name))

    def _translations(self, node: Node | None, name: str) -> dict[str, str]:
        found = self._mapping(node, "translations") if node else {}
        return {
            language: self._text(text, f"the redirect of {name!r} in {language!r}") for language, text in found.items()
        }

    def _fields(self, node: Node, *, needed: Collection[str], allowed: Collection[str]) -> dict[str, Node]:
        fields = self._mapping(node, "this")
        for name, value in fields.items():
            if name not in allowed:
                self._fail(value, f"{name!r} is not known here; allowed are {', '.join(sorted(allowed))}")
        for name in sorted(needed):
            if name not in fields:
                self._fail(node, f"{name} is missing")
        return fields

    def _mapping(self, node: Node, what: str) -> dict[str, Node]:
        if not isinstance(node, MappingNode):
            self._fail(node, f"{what} must be a mapping of names to values")
        found: dict[str, Node] = {}
        for key, value in node.value:
            name = self._text(key, f"a name in {what}")
            if name in found:
                self._fail(key, f"{name!r} stands here for the second time")
            found[name] = value
        return found

    def _texts(self, node: Node, what: str) -> tuple[str, ...]:
        if not isinstance(node, SequenceNode) or not node.value:
            self._fail(node, f"{what} must be a list of sentences")
        return tuple(dict.fromkeys(self._text(item, f"an entry of {what}") for item in node.value))

    def _text(self, node: Node, what: str) -> str:
        if not isinstance(node, ScalarNode) or not node.value.strip():
            self._fail(node, f"{what} must be text; quote it if it contains a colon")
        return str(node.value).strip()

    def _number(self, node: Node) -> float:
        try:
            threshold = float(self._text(node, "threshold"))
        except ValueError:
            threshold = nan
        if isnan(threshold):
            self._fail(node, f"threshold must be a number, not {node.value!r}")
        return threshold

    def _fail(self, node: Node, reason: str) -> NoReturn:
        self._complain(node.start_mark.line + 1, reason)

    def _complain(self, line: int, reason: str) -> NoReturn:
        msg = f"{self._name!r}, line {line}: {reason}"
        raise ConfigurationError(msg)
