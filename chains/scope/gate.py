"""A question and the examples of a scope -> whether it is declined, and with what text.

Every example votes on a question, with a strength that falls off with its cosine distance; the weights are solved so
that the examples classify themselves (kernel ridge regression), both sides counting alike however many examples each
has. Declined is a question whose votes sum up to more than the threshold and whose nearest example is one to decline.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import Runnable, RunnableConfig
from numpy.typing import NDArray

from chains.scope.file import Scope
from chains.state import Question, Redirect, check_question

# How fast a vote falls off with distance, and how far the weights are kept from fitting single examples. Chosen by
# leaving out one example at a time; values between a half and the double change little.
SHARPNESS = 3.0
STIFFNESS = 0.3

Numbers = NDArray[np.float64]


class LeftOut(NamedTuple):
    """An example, the intent it is written under (None is in scope), and what the other examples make of it."""

    text: str
    intent: str | None
    votes: float
    found: str | None  # None where the nearest of the others is in scope: then it is not declined.


@dataclass(frozen=True, slots=True)
class Electorate:
    """The examples' vectors and the weights of their votes: a column for declining, then one for each intent."""

    vectors: Numbers
    weights: Numbers
    declines: NDArray[np.bool_]

    def vote(self, vector: Numbers) -> tuple[float, int | None]:
        """Return the votes for declining, and the place of the likeliest intent if the nearest example declines."""
        likeness = self.vectors @ vector
        votes = _strength(likeness) @ self.weights
        return float(votes[0]), int(votes[1:].argmax()) if self.declines[likeness.argmax()] else None


class ScopeGate(Runnable[Question, Redirect | None]):
    """Recognises what is not answered from documents; the examples are embedded at the first question, once."""

    def __init__(self, scope: Scope, embeddings: Embeddings) -> None:
        self._scope = scope
        self._embeddings = embeddings
        self._lock = threading.Lock()
        self._electorate: Electorate | None = None

    def invoke(self, input: Question, config: RunnableConfig | None = None, **kwargs: Any) -> Redirect | None:
        """Return the redirect of a question that is not answered from documents.

        Raises:
            QuestionError: the question is empty, too long, or no text.
        """
        return self._judge(self._embeddings.embed_query(check_question(input.get("question"))))

    async def ainvoke(self, input: Question, config: RunnableConfig | None = None, **kwargs: Any) -> Redirect | None:
        """Return the same without blocking the event loop."""
        return self._judge(await self._embeddings.aembed_query(check_question(input.get("question"))))

    def leave_one_out(self) -> list[LeftOut]:
        """Return for each example what the others make of it, in the order of the file."""
        electorate = self._elected()
        likeness = electorate.vectors @ electorate.vectors.T
        targets = self._targets()
        inverse = np.linalg.inv(_ridge(likeness, electorate.declines))
        votes = targets - (inverse @ targets) / np.diag(inverse)[:, None]  # Exact for ridge regression.
        np.fill_diagonal(likeness, -1.0)
        nearest = electorate.declines[likeness.argmax(axis=1)]
        names = [intent.name for intent in self._scope.intents]
        found = [names[int(row[1:].argmax())] if near else None for row, near in zip(votes, nearest, strict=True)]
        return [
            LeftOut(text, names[place] if place is not None else None, float(row[0]), name)
            for (text, place), row, name in zip(self._examples(), votes, found, strict=True)
        ]

    def _judge(self, vector: Sequence[float]) -> Redirect | None:
        votes, place = self._elected().vote(np.asarray(vector, dtype=np.float64))
        if place is None or votes <= self._scope.threshold:
            return None
        intent = self._scope.intents[place]
        return Redirect(intent=intent.name, text=intent.redirect)

    def _elected(self) -> Electorate:
        with self._lock:
            if self._electorate is None:
                texts = [text for text, _ in self._examples()]
                vectors = np.asarray(self._embeddings.embed_documents(texts), dtype=np.float64)
                targets = self._targets()
                declines = targets[:, 0] > 0
                solved = np.linalg.solve(_ridge(vectors @ vectors.T, declines), targets)
                self._electorate = Electorate(vectors, np.asarray(solved, dtype=np.float64), declines)
            return self._electorate

    def _examples(self) -> list[tuple[str, int | None]]:
        """Return each example with the place of its intent, None in scope."""
        declined = [(text, place) for place, intent in enumerate(self._scope.intents) for text in intent.examples]
        return [*declined, *((text, None) for text in self._scope.in_scope)]

    def _targets(self) -> Numbers:
        """Return a row for each example: +1 to decline or -1 in scope, then 1 under its own intent."""
        places = [place for _, place in self._examples()]
        targets = np.zeros((len(places), 1 + len(self._scope.intents)))
        for row, place in zip(targets, places, strict=True):
            row[0] = -1.0 if place is None else 1.0
            if place is not None:
                row[1 + place] = 1.0
        return targets


def _ridge(likeness: Numbers, declines: NDArray[np.bool_]) -> Numbers:
    """Return the matrix of the ridge regression; an example of the larger side counts for less."""
    share = np.where(declines, declines.mean(), 1 - declines.mean())
    ridge: Numbers = _strength(likeness) + np.diag(2 * STIFFNESS * share)
    return ridge


def _strength(likeness: Numbers) -> Numbers:
    strength: Numbers = np.exp(SHARPNESS * (likeness - 1))
    return strength
