"""Rewrite an answer as it comes: filters take out what no reader may see, and make its markers final."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import ConfigurableFieldSpec, Runnable, RunnableConfig
from langchain_core.runnables.graph import Graph
from langchain_core.runnables.utils import AddableDict

from chains.citations import CiteSources
from chains.citations.cited_sentences import SentenceGate
from chains.citations.numbering import NumberedMarkers
from chains.metadata import joined
from chains.safety.output_check import OutputCheck
from chains.safety.screening import Safety
from chains.state import Contextualised

Record = dict[str, Any]


@dataclass(eq=False, repr=False)
class Rewrite(Runnable[Contextualised, Record]):
    """Add the message of `answer`, and its text with final markers.

    In a stream the text comes first, in pieces, and then the whole message. Calls of tools are left out: nothing here
    runs any.

    Args:
        answer: makes the message of a state with its context.
        cite: makes the markers of the text final, and may check a stream.
        safety: fences the documents that `answer` gets, and checks its words before the markers.
    """

    answer: Runnable[Contextualised, BaseMessage]
    cite: CiteSources
    safety: Safety | None = None

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        return self.answer.config_specs

    def get_graph(self, config: RunnableConfig | None = None) -> Graph:
        return self.answer.get_graph(config)

    def invoke(self, input: Contextualised, config: RunnableConfig | None = None, **kwargs: Any) -> Record:
        return self._whole(input, self.answer.invoke(self._prompt(input), config))

    async def ainvoke(self, input: Contextualised, config: RunnableConfig | None = None, **kwargs: Any) -> Record:
        return self._whole(input, await self.answer.ainvoke(self._prompt(input), config))

    def stream(self, input: Contextualised, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Record]:
        """Yield the text as it comes, or as its sentences are checked, and then the message."""
        text = self._text(input, streamed=True)
        for piece in self.answer.stream(self._prompt(input), config):
            yield from text.feed(piece)
        yield from text.flush()

    async def astream(
        self, input: Contextualised, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Record]:
        text = self._text(input, streamed=True)
        async for piece in self.answer.astream(self._prompt(input), config):
            for record in text.feed(piece):
                yield record
        for record in text.flush():
            yield record

    def _whole(self, state: Contextualised, message: BaseMessage) -> Record:
        text = self._text(state)
        return reduce(add, map(AddableDict, [*text.feed(message), *text.flush()]))

    def _text(self, state: Contextualised, *, streamed: bool = False) -> "_Text":
        markers = self.cite.markers(state["context"]["passages"])
        gate = self.cite.gate(markers, state) if streamed else None
        return _Text(self.safety.output_check(state) if self.safety else None, markers, gate)

    def _prompt(self, state: Contextualised) -> Contextualised:
        return self.safety.fenced(state) if self.safety else state


@dataclass
class _Text:
    """The words of one message on their way to the reader."""

    check: OutputCheck | None
    markers: NumberedMarkers
    gate: SentenceGate | None

    def __post_init__(self) -> None:
        self._pieces: list[BaseMessage] = []
        self._words: list[str] = []

    def feed(self, piece: BaseMessage) -> Iterator[Record]:
        self._pieces.append(piece)
        yield from self._shown(self.check.feed(str(piece.text)) if self.check else str(piece.text))

    def flush(self) -> Iterator[Record]:
        """Yield the rest, once the message has ended: an `answer` in any case, and the message."""
        yield from self._shown(self.check.flush() if self.check else "")
        words = self.markers.flush()
        yield {"answer": "" if self.gate else words}
        if self.gate:
            yield from self.gate.feed(words)
            yield from self.gate.flush()
        message = joined(self._pieces)
        metadata = message.response_metadata | (self.check.findings() if self.check else {})
        shown = AIMessage("".join(self._words), id=message.id, response_metadata=metadata)
        # A copy is not validated: LangChain's own cache of models makes a usage without tokens.
        yield {"message": shown.model_copy(update={"usage_metadata": getattr(message, "usage_metadata", None)})}

    def _shown(self, words: str) -> Iterator[Record]:
        self._words.append(words)
        if shown := self.markers.feed(words):
            yield from self.gate.feed(shown) if self.gate else [{"answer": shown}]
