"""Shape what the chain returns: the fields of an answer, whole or in chunks."""

import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.utils import AddableDict

from chains.metadata import describe
from chains.state import SO_FAR, Answer, Scored

REPLACEMENT = "replacement"
FIELDS = tuple(Answer.__annotations__)

# A few words at a time: each chunk costs its way through the callbacks and to the client.
_WORDS = re.compile(r"\s*(?:\S+\s*){1,6}|\s+")
# What is known before the words come.
_BEFORE = ("question", "documents")


class AnswerChunk(AddableDict):
    """A part of a streamed answer. The sum of the parts is what `invoke` returns.

    A stream cannot take words back. Where the answer's words are replaced, the last parts carry a `replacement`, which
    a client shows instead; in the sum it has taken the place of the words.
    """

    def __add__(self, other: Mapping[str, Any]) -> "AnswerChunk":
        """Return the sum: words are joined, other fields are set."""
        whole = AnswerChunk(self)
        for name, value in other.items():
            whole[name] = whole[name] + value if name == "answer" and name in whole else value
        if REPLACEMENT in whole:
            whole["answer"] = whole.pop(REPLACEMENT)
        return whole


class AnswerOutput(Runnable[Scored, Answer]):
    """The last step: adds the metadata and keeps the fields of an answer, in their order, and those in `more`."""

    name = "answer"

    def __init__(self, more: Sequence[str] = (), *, passages_first: bool = False) -> None:
        self._passages_first = passages_first
        self._fields = (*FIELDS, *more)
        self._visible = frozenset({*self._fields, REPLACEMENT, SO_FAR})

    def invoke(self, input: Scored, config: RunnableConfig | None = None, **kwargs: Any) -> Answer:
        state: dict[str, Any] = {**input, **_at_the_end(input, config)}
        if state.get(REPLACEMENT) is not None:
            state["answer"] = state[REPLACEMENT]
        return cast("Answer", {name: state[name] for name in self._fields if name in state})

    async def ainvoke(self, input: Scored, config: RunnableConfig | None = None, **kwargs: Any) -> Answer:
        return self.invoke(input, config)

    def transform(
        self, input: Iterator[Scored], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Answer]:
        state, opening = AddableDict(), _Opening(self._passages_first)
        for part in input:
            state += AddableDict(part)
            yield from opening.feed(self._shown(part, state))
        yield from opening.held
        yield _chunk(**_at_the_end(cast("Scored", state), config))

    async def atransform(
        self, input: AsyncIterator[Scored], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Answer]:
        state, opening = AddableDict(), _Opening(self._passages_first)
        async for part in input:
            state += AddableDict(part)
            for chunk in opening.feed(self._shown(part, state)):
                yield chunk
        for chunk in opening.held:
            yield chunk
        yield _chunk(**_at_the_end(cast("Scored", state), config))

    def _shown(self, part: Mapping[str, Any], state: Mapping[str, Any]) -> Answer | None:
        """Return what a reader sees of a part of the state, if anything."""
        seen = {name: value for name, value in part.items() if name in self._visible}
        if seen.pop(SO_FAR, None):
            seen |= state[SO_FAR]
        if seen.get(REPLACEMENT, "") is None:  # Nothing is replaced.
            del seen[REPLACEMENT]
        if REPLACEMENT in seen and not state.get("answer"):  # Nobody has seen a word that it would replace.
            seen = {"answer": seen.pop(REPLACEMENT)} | seen
        return _chunk(**seen) if seen else None


def _at_the_end(state: Scored, config: RunnableConfig | None) -> dict[str, Any]:
    """Return the metadata, and the documents with what else of their sections the answer cites, where it does."""
    ended: dict[str, Any] = {"metadata": describe(state, config or {})}
    if siblings := state.get("siblings"):
        held = {one["content"] for one in state["documents"]}
        quotes = [citation["quote"] for citation in state["citations"] if citation["matched"]]
        cited = [one for one in siblings if any(quote in one["content"] for quote in quotes)]
        new = {one["content"]: one for one in cited if one["content"] not in held}
        ended["documents"] = [*state["documents"], *new.values()]
    return ended


class _Opening:
    """Holds what comes before the first words of an answer, or before its outcome where it has none.

    A chain that fails before it has said anything then yields nothing: `with_fallbacks` asks the next one, and
    `with_retry` once more, only until the first part of a stream.
    """

    def __init__(self, is_open: bool) -> None:
        self.held: list[Answer] = []
        self._is_open = is_open

    def feed(self, chunk: Answer | None) -> list[Answer]:
        if chunk:
            self.held.append(chunk)
            self._is_open = self._is_open or bool(chunk.get("answer")) or "outcome" in chunk
        if not self._is_open:
            return []
        shown, self.held = self.held, []
        return shown


def split(answer: Answer) -> Iterator[Answer]:
    """Yield a whole answer as the chain streams it: field by field, its words a few at a time, with their citations."""
    fields: dict[str, Any] = dict(answer)
    for name in _BEFORE:
        if name in fields:
            yield _chunk(**{name: fields.pop(name)})
    shown, told, citations = 0, 0, fields.get("citations", [])
    for words in _WORDS.findall(fields.pop("answer")) or [""]:
        shown, before = shown + len(words), told
        while told < len(citations) and citations[told]["end"] <= shown:
            told += 1
        yield _chunk(answer=words, **({"citations": citations[:told]} if told > before else {}))
    metadata = fields.pop("metadata")
    for name, value in fields.items():
        yield _chunk(**{name: value})
    yield _chunk(metadata=metadata)


def merge(chunks: Iterable[Mapping[str, Any]]) -> Answer:
    """Return the answer that `invoke` would have returned in place of these chunks."""
    whole = AnswerChunk()
    for chunk in chunks:
        whole += chunk
    ordered = {name: whole[name] for name in FIELDS if name in whole}
    return cast("Answer", ordered | whole)


def _chunk(**fields: Any) -> Answer:
    return cast("Answer", AnswerChunk(fields))
