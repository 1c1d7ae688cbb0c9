"""Before stage 1: redirect questions that no document answers, by a scope file with examples of them.

A kernel classifier over the examples decides before anything is searched: kernel ridge regression with a kernel that
falls off with cosine distance, both sides weighted alike however many examples each has. A question is declined if its
score is above the threshold and its nearest example is one to decline.
"""

import re
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import run_in_executor
from numpy.typing import NDArray
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from chains.errors import ConfigurationError, IngestionError
from chains.question import is_readable, query_of, question_of
from chains.regular_files import read_text
from chains.safe_yaml import YamlError, read_nodes
from chains.state import SMALL_TALK, Redirect, Searching, is_blocked

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
    """Read a scope file; ConfigurationError, with the line, where it cannot be read or something does not fit."""
    try:
        return parse_scope(read_text(path), str(path))
    except IngestionError as error:
        raise ConfigurationError(f"the scope file {str(path)!r} is of no use: {error}; check SCOPE_FILE") from error


def parse_scope(text: str, name: str) -> ScopeFile:
    """Read the text of a scope file as `load_scope` does; messages call it by its name."""
    return _Reader(text, name).read()


@dataclass
class _Reader:
    """Read one file node by node, because plain values have no line numbers."""

    text: str
    name: str

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
            root = read_nodes(self.text)
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
        raise ConfigurationError(f"{self.name!r}, line {line}: {reason}")


# Chosen by leaving out one example at a time; values between a half and the double change little.
GAMMA = 3.0
RIDGE = 0.3

# Letters with a figure behind them: K1, HR-07.
_CODE = re.compile(r"(?<![^\W_])(?=[\w-]*[^\W\d_])(?=[\w-]*\d)\w+(?:-\w+)*")

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class KernelClassifier:
    """The examples' vectors and their dual weights: a column for declining, then one for each intent."""

    vectors: Numbers
    weights: Numbers
    declines: NDArray[np.bool_]

    def score(self, vector: Numbers) -> tuple[float, int | None]:
        """Return the score for declining, and the place of the likeliest intent if the nearest example declines."""
        similarities = self.vectors @ vector
        scores = _kernel(similarities) @ self.weights
        return float(scores[0]), int(scores[1:].argmax()) if self.declines[similarities.argmax()] else None


@dataclass(eq=False, repr=False)
class ScopeGate(Runnable[Searching, Redirect | None]):
    """Recognise what is not answered from documents; the examples are embedded once, at the first question."""

    scope: ScopeFile
    embeddings: Embeddings

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._classifier: KernelClassifier | None = None

    def invoke(self, input: Searching, config: RunnableConfig | None = None, **kwargs: Any) -> Redirect | None:
        """Return the redirect of a question that is not answered from documents.

        One that is blocked is not read; one that is not English cannot be: the examples are.
        """
        return self._redirect(input, [self.embeddings.embed_query(text) for text in _judged(input)])

    async def ainvoke(self, input: Searching, config: RunnableConfig | None = None, **kwargs: Any) -> Redirect | None:
        return self._redirect(input, [await self.embeddings.aembed_query(text) for text in _judged(input)])

    def _redirect(self, state: Searching, vectors: Sequence[Sequence[float]]) -> Redirect | None:
        if is_blocked(state):
            return None
        return _first_if_all([self._judge(one, state.get("language")) for one in vectors]) or state.get("scope")

    def _judge(self, vector: Sequence[float], language: str | None) -> Redirect | None:
        score, place = self.fitted().score(np.asarray(vector, dtype=np.float64))
        if place is None or score <= self.scope.threshold:
            return None
        intent = self.scope.intents[place]
        return Redirect(intent=intent.name, text=intent.redirect_in(language))

    def fitted(self) -> KernelClassifier:
        with self._lock:
            if self._classifier is None:
                texts = [text for text, _ in self.examples()]
                vectors = np.asarray(self.embeddings.embed_documents(texts), dtype=np.float64)
                targets = self.targets()
                declines = targets[:, 0] > 0
                solved = np.linalg.solve(ridge(vectors @ vectors.T, declines), targets)
                self._classifier = KernelClassifier(vectors, np.asarray(solved, dtype=np.float64), declines)
            return self._classifier

    def examples(self) -> list[tuple[str, int | None]]:
        """Return each example with the place of its intent, None in scope."""
        declined = [(text, place) for place, intent in enumerate(self.scope.intents) for text in intent.examples]
        return [*declined, *((text, None) for text in self.scope.in_scope)]

    def targets(self) -> Numbers:
        """Return a row for each example: +1 to decline or -1 in scope, then 1 under its own intent."""
        places = [place for _, place in self.examples()]
        targets = np.zeros((len(places), 1 + len(self.scope.intents)))
        for row, place in zip(targets, places, strict=True):
            row[0] = -1.0 if place is None else 1.0
            if place is not None:
                row[1 + place] = 1.0
        return targets


@dataclass(eq=False, repr=False)
class CurrentScope(Runnable[Searching, Redirect | None]):
    """Asks the gates that are in force when the question comes; a question that one lets pass is not declined.

    Args:
        current: returns the gates: one for each collection of documents that may be asked.
        is_held: says whether a document that the asker may see holds a word; a question with a code of one ("K1") is
            not declined.
    """

    current: Callable[[], Sequence[Runnable[Searching, Redirect | None]]]
    is_held: Callable[[str, RunnableConfig | None], bool] | None = None

    def invoke(self, input: Searching, config: RunnableConfig | None = None, **kwargs: Any) -> Redirect | None:
        """Return the redirect of the first gate, if all decline."""
        declined = _first_if_all([gate.invoke(input, config) for gate in self.current()])
        return input.get("scope") if declined is None or self._names_code(input, config) else declined

    async def ainvoke(self, input: Searching, config: RunnableConfig | None = None, **kwargs: Any) -> Redirect | None:
        gates = await run_in_executor(config, self.current)  # The index is asked whether it has changed.
        declined = _first_if_all([await gate.ainvoke(input, config) for gate in gates])
        if declined is None or await run_in_executor(config, self._names_code, input, config):
            return input.get("scope")
        return declined

    def _names_code(self, state: Searching, config: RunnableConfig | None) -> bool:
        is_held = self.is_held
        return is_held is not None and any(is_held(code, config) for code in _CODE.findall(question_of(state)))


def _judged(state: Searching) -> list[str]:
    """Return the words to judge: the user's own, or where reformulation put others in their place, those.

    None of small talk, which no list of examples knows better, nor of what is blocked or cannot be read.
    "And for Thailand?" says nothing by itself; "Where is it now?" does, whatever it is about. A message with several
    questions is declined where each of them is.
    """
    redirect = state.get("scope")
    if is_blocked(state) or (redirect and redirect["intent"] == SMALL_TALK) or not is_readable(state):
        return []
    if parts := state.get("parts"):
        return [part["query"] for part in parts]
    question, query = question_of(state), query_of(state)
    return [question if query.startswith(question) else query]


def _first_if_all(redirects: Sequence[Redirect | None]) -> Redirect | None:
    return redirects[0] if redirects and all(redirects) else None


def ridge(similarities: Numbers, declines: NDArray[np.bool_]) -> Numbers:
    """Return the regularised kernel matrix; an example of the larger side counts for less."""
    share = np.where(declines, declines.mean(), 1 - declines.mean())
    ridge: Numbers = _kernel(similarities) + np.diag(2 * RIDGE * share)
    return ridge


def _kernel(similarities: Numbers) -> Numbers:
    values: Numbers = np.exp(GAMMA * (similarities - 1))
    return values
