"""Before stage 1: redirect questions that no document answers, by a scope file with examples of them.

A kernel classifier over the examples decides before anything is searched: kernel ridge regression with a kernel that
falls off with cosine distance, both sides weighted alike however many examples each has. A question is declined if its
score is above the threshold and its nearest example is one to decline.
"""

import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import run_in_executor
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from yaml import Node

from chains.errors import ConfigurationError, IngestionError
from chains.question import is_readable, query_of, question_of
from chains.regular_files import read_text
from chains.safe_yaml import YamlError, each_once, read_nodes, read_values
from chains.state import Redirect, Searching, is_settled

SCOPE_FILE = "scope.yaml"  # In the folder of a knowledge base.
THRESHOLD = 0.42


_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_Texts = Annotated[list[_Text], Field(min_length=1), AfterValidator(lambda texts: list(dict.fromkeys(texts)))]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Intent(_Form):
    """A kind of question that no document answers: examples, and the text that redirects the user, by language too."""

    redirect: _Text
    examples: _Texts
    translations: dict[str, _Text] = {}


class ScopeFile(_Form):
    """The intents to decline, examples of what is answered, and the score above which a question is declined."""

    intents: Annotated[dict[str, Intent], Field(min_length=1)]
    in_scope: _Texts
    threshold: Annotated[float, Field(allow_inf_nan=False)] = THRESHOLD


def load_scope(path: Path) -> ScopeFile:
    """Read a scope file; ConfigurationError, with the line, where it cannot be read or something does not fit."""
    try:
        return parse_scope(read_text(path), str(path))
    except IngestionError as error:
        raise ConfigurationError(f"the scope file {str(path)!r} is of no use: {error}; check SCOPE_FILE") from error


def parse_scope(text: str, name: str) -> ScopeFile:
    """Read the text of a scope file as `load_scope` does; messages call it by its name."""
    try:
        return ScopeFile.model_validate(read_values(text, object_pairs_hook=each_once))
    except YamlError as error:
        raise ConfigurationError(f"{name!r}, line {error.line}: the file {error.problem}") from error
    except ValidationError as error:
        line, reason = _explained(error.errors()[0], read_nodes(text))
        raise ConfigurationError(f"{name!r}, line {line}: {reason}") from error


def _explained(issue: Any, root: Node | None) -> tuple[int, str]:
    if root is None:
        return 1, "the file is empty; it needs intents and in_scope"
    kind, place = issue["type"], issue["loc"]
    node: Any = root
    for step in place[:-1] if kind == "missing" else place:
        node = node.value[step] if isinstance(step, int) else {key.value: one for key, one in node.value}[step]
    last, form = place[-1] if place else "this", ScopeFile if len(place) == 1 else Intent
    allowed, what = ", ".join(sorted(form.model_fields)), ".".join(map(str, place))
    reasons = {
        "missing": f"{last} is missing",
        "extra_forbidden": f"{last!r} is not known here; allowed are {allowed}",
        "list_type": f"{what} must be a list of sentences",
        "too_short": f"{what} is empty; name at least one, or set SCOPE_FILE=off",
        **dict.fromkeys(("dict_type", "model_type"), f"{last} must be a mapping of names to values"),
        **dict.fromkeys(
            ("float_parsing", "float_type", "finite_number"), f"threshold must be a number, not {node.value!r}"
        ),
    }
    return node.start_mark.line + 1, reasons.get(kind, f"{what} must be text; quote it if it contains a colon")


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
        return _first_if_all([self._judge(text, input.get("language")) for text in _judged(input)]) or input.get(
            "scope"
        )

    def _judge(self, text: str, language: str | None) -> Redirect | None:
        vector = np.asarray(self.embeddings.embed_query(text), dtype=np.float64)
        score, place = self.fitted().score(vector)
        if place is None or score <= self.scope.threshold:
            return None
        name, intent = list(self.scope.intents.items())[place]
        code = (language or "").partition("-")[0].lower()  # Of `id-ID`, `id`.
        return Redirect(intent=name, text=intent.translations.get(code, intent.redirect))

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
        declined = [
            (text, place) for place, intent in enumerate(self.scope.intents.values()) for text in intent.examples
        ]
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
        executor: the threads in which an awaited question is judged; None are the event loop's own.
    """

    current: Callable[[], Sequence[Runnable[Searching, Redirect | None]]]
    is_held: Callable[[str, RunnableConfig | None], bool] | None = None
    executor: Executor | None = None

    def invoke(self, input: Searching, config: RunnableConfig | None = None, **kwargs: Any) -> Redirect | None:
        declined = _first_if_all([gate.invoke(input, config) for gate in self.current()])
        is_held = self.is_held
        if declined and is_held and any(is_held(code, config) for code in _CODE.findall(question_of(input))):
            declined = None
        return declined or input.get("scope")

    async def ainvoke(self, input: Searching, config: RunnableConfig | None = None, **kwargs: Any) -> Redirect | None:
        return await run_in_executor(self.executor, copy_context().run, self.invoke, input, config)


def _judged(state: Searching) -> list[str]:
    """Return the words to judge: the user's own, or where reformulation put others in their place, those.

    None of small talk, which no list of examples knows better, nor of what is blocked or cannot be read.
    "And for Thailand?" says nothing by itself; "Where is it now?" does, whatever it is about. A message with several
    questions is declined where each of them is.
    """
    if is_settled(state) or not is_readable(state):
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
