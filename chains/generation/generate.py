"""Ask the language model for the answer to a question from its context, and group the chunks of its stream."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.prompt_values import ChatPromptValue, PromptValue
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import ConfigurableFieldSpec, Runnable, RunnableConfig, ensure_config
from langchain_core.runnables.graph import Graph

import prompts
from chains.callbacks import call_in_time, iterate_in_time, register, time_limit
from chains.clock import Clock
from chains.errors import ConfigurationError
from chains.generation.native import ATTACHED, NativeMarkers, attach, citable, cites_in_streams
from chains.generation.reply import ReasoningFilter, shown_part, without_reasoning
from chains.history import HistoryWindow
from chains.metadata import ASKED, PARTS, SCORES, SEARCHED, UNSURE, joined
from chains.question import is_readable, readable
from chains.state import Context, Contextualised, passages_of, refusal_of
from chains.text.letters import one_line
from prompts import Translations, translated

VARIABLES = {"context", "history", "question"}
ChatModel = BaseChatModel | Runnable[Any, Any]
"""A chat model of LangChain, or a Runnable around one."""

_SHOWN = {"context": "the documents", "question": "the question"}


class Generate(Runnable[Contextualised, BaseMessage]):
    """Asks `prompt | model`, or answers without the model where there is nothing to answer from.

    The model is called as a step of the caller's own run, and its chunks are handed on in pieces. A model that does
    not keep the deadline of a call by itself is held to it. What a model thinks aloud is in no message.

    The arguments are those of `chains.build_chain`; what is filled into a prompt is not read as a template. A reminder
    stands behind the question because small models follow the last words best. With native citations the message is
    text with the numbers of what the model cites.

    Raises:
        ConfigurationError: the prompt lacks a variable, or has another one; or the model cites nothing by itself.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        system: str | ChatPromptTemplate | None = None,
        variables: Mapping[str, str] | None = None,
        no_results: str | None = None,
        reminder: str | None = None,
        parts: str | None = None,
        unread: str | None = None,
        translations: Translations | None = None,
        history: HistoryWindow | None = None,
        clock: Clock | None = None,
        native_citations: bool = False,
    ) -> None:
        self._hides_reasoning = getattr(model, "hides_reasoning", False)
        self._make_block = citable(model) if native_citations else None
        self._streams = self._make_block is None or cites_in_streams(self._make_block)
        self._variables = {name: name for name in VARIABLES} | dict(variables or {})
        own = "" if system else prompts.load("reminder")
        self._reminder = own if reminder is None else reminder
        self.prompt = _prompt(prompts.load("system") if system is None else system, self._reminder, self._variables)
        self._parts = prompts.load("parts") if parts is None else parts
        self.model = model
        self._no_results = prompts.load("no_results") if no_results is None else no_results
        self._unread = unread
        self._translations = prompts.translations() if translations is None else translations
        self._history = history or HistoryWindow()
        self._clock = clock or Clock()
        self._keeps_deadline = getattr(model, "keeps_deadline", False)

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        return self.model.config_specs

    def get_graph(self, config: RunnableConfig | None = None) -> Graph:
        return (self.prompt | self.model).get_graph(config)

    def invoke(self, input: Contextualised, config: RunnableConfig | None = None, **kwargs: Any) -> BaseMessage:
        """Return the model's message; the context may be text, by itself."""
        if canned := self._canned(input):
            return canned
        filled = self._filled(input)
        ask = partial(self.model.invoke, filled, config)
        return self._whole(input, ask() if self._keeps_deadline else call_in_time(_callbacks(config), ask))

    async def ainvoke(self, input: Contextualised, config: RunnableConfig | None = None, **kwargs: Any) -> BaseMessage:
        if canned := self._canned(input):
            return canned
        async with self._limit(config):
            return self._whole(input, await self.model.ainvoke(self._filled(input), config))

    def _whole(self, state: Contextualised, message: BaseMessage) -> BaseMessage:
        if markers := self._markers(state):
            message = message.model_copy(update={"content": markers.feed(message) + markers.flush()})
        return message if self._hides_reasoning else without_reasoning(message)

    def _reading(self, state: Contextualised) -> "_Reading":
        return _Reading(self._markers(state), None if self._hides_reasoning else ReasoningFilter())

    def _markers(self, state: Contextualised) -> NativeMarkers | None:
        return NativeMarkers(_context(state)["passages"]) if self._make_block else None

    def stream(
        self, input: Contextualised, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[BaseMessage]:
        if not self._streams or self._canned(input):
            yield self.invoke(input, config)
            return
        chunks: Any = self.model.stream(self._filled(input), config)
        register(_callbacks(config), chunks.close)
        in_time = chunks if self._keeps_deadline else iterate_in_time(_callbacks(config), chunks)
        reading = self._reading(input)
        for piece in pieces(in_time, self._clock.now):
            yield reading.feed(joined(piece))
        yield from reading.flush()

    async def astream(
        self, input: Contextualised, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[BaseMessage]:
        if not self._streams or self._canned(input):
            yield await self.ainvoke(input, config)
            return
        chunks = self.model.astream(self._filled(input), config)
        reading = self._reading(input)
        async for piece in apieces(chunks, _callbacks(config), self._limit(config)):
            yield reading.feed(joined(piece))
        for rest in reading.flush():
            yield rest

    def _filled(self, state: Contextualised) -> PromptValue:
        context, history = _context(state), self._history.turns(state.get("history"))
        turns = [tuple(turn) for turn in history]
        if guard := state.get("guard"):  # The warning stands before a suspicious question, as a message.
            turns.append(("system", guard))
        question, parts = readable(state).strip(), state.get("parts", [])
        content = question
        if parts:
            lines = "\n".join(f"{number}. {one_line(part['question'])}" for number, part in enumerate(parts, start=1))
            content += "\n\n" + self._parts.replace("{count}", str(len(parts))).replace("{questions}", lines)
        shown = ATTACHED if self._make_block else context["text"]
        values = {"context": shown, "history": turns, "question": content}
        filled = {name: values[ours] for name, ours in self._variables.items()}
        *before, asked = self.prompt.format_messages(**filled)  # Without a run: the model's has all of it.
        if parts:
            asked = asked.model_copy(update={"content": asked.text.removesuffix(f"\n\n{self._reminder}")})
        asked = asked.model_copy(update={"additional_kwargs": facts_of(state)})
        if self._make_block:
            asked = attach(asked, context["text"], self._make_block)
        return ChatPromptValue(messages=[*before, asked])

    def _limit(self, config: RunnableConfig | None) -> AbstractAsyncContextManager[None]:
        return nullcontext() if self._keeps_deadline else time_limit(_callbacks(config))

    def _canned(self, state: Contextualised) -> AIMessage | None:
        """Return what is said without the model; None where it is asked."""
        language, text = state.get("language"), refusal_of(state)
        is_unread = not text and self._unread is not None and not is_readable(state)
        text = text or (self._unread if is_unread else None)
        context = _context(state)
        if text is None and (context["passages"] or context["text"]):
            return None
        reply = translated(text or self._no_results, language, self._translations)
        return AIMessage(reply, response_metadata={UNSURE: True} if is_unread else {})


generate = Generate
"""Return the step of stage 3."""


class _Reading:
    """Reads a streamed message: the citations of the model itself as numbers, and no thoughts where none are wanted."""

    def __init__(self, markers: NativeMarkers | None, words: ReasoningFilter | None) -> None:
        self._markers = markers
        self._words = words

    def feed(self, piece: BaseMessage) -> BaseMessage:
        if self._markers:
            piece = piece.model_copy(update={"content": self._markers.feed(piece)})
        if not isinstance(piece, AIMessageChunk):  # A whole message, which nothing can be added to.
            return without_reasoning(piece) if self._words else piece
        return shown_part(piece, self._words)

    def flush(self) -> Iterator[BaseMessage]:
        if self._markers:
            yield shown_part(AIMessageChunk(content=self._markers.flush()), self._words)
        if self._words and (rest := self._words.flush()):
            yield AIMessageChunk(content=rest)


def _prompt(system: str | ChatPromptTemplate, reminder: str, variables: Mapping[str, str]) -> ChatPromptTemplate:
    if not isinstance(system, str | ChatPromptTemplate):
        msg = f"system must be text or a ChatPromptTemplate, not a {type(system).__name__}; pass its template"
        raise ConfigurationError(msg)
    if isinstance(system, ChatPromptTemplate):
        prompt = _checked(system, "the prompt", variables, needed=("context", "question"))
        return prompt.model_copy(update={"name": "prompt"})
    try:
        asked = "{question}" + (f"\n\n{reminder}" if reminder else "")
        prompt = ChatPromptTemplate(
            [("system", system), MessagesPlaceholder("history"), ("human", asked)], name="prompt"
        )
    except ValueError as error:
        msg = f"the system prompt is not a valid template ({error}); write braces that are text as {{{{ and }}}}"
        raise ConfigurationError(msg) from error
    return _checked(prompt, "the system prompt", variables, needed=("context",))


def _checked(
    prompt: ChatPromptTemplate, name: str, variables: Mapping[str, str], *, needed: Sequence[str]
) -> ChatPromptTemplate:
    if unknown := sorted(set(variables.values()) - VARIABLES):
        raise ConfigurationError(f"variables={{...: {unknown[0]!r}}} names none of {', '.join(sorted(VARIABLES))}")
    used = {*prompt.input_variables, *prompt.optional_variables}
    filled = {variables[variable] for variable in used & variables.keys()}
    for variable in needed:
        if variable not in filled:
            msg = f"{name} has no {{{variable}}}; without it the model is not shown {_SHOWN[variable]}"
            raise ConfigurationError(msg)
    if unfilled := sorted(used - variables.keys()):
        known = ", ".join(sorted(VARIABLES))
        msg = f"{name} has variables that nothing fills: {', '.join(unfilled)}; it may use {known}, or map `variables`"
        raise ConfigurationError(msg)
    return prompt


def facts_of(state: Contextualised) -> dict[str, Any]:
    """Return what a model that selects statements is told beside the question: what was searched for, and scores."""
    passages, parts = _context(state)["passages"], state.get("parts", [])
    facts: dict[str, Any] = {
        SCORES: [passage["score"] for passage in passages],
        ASKED: readable(state).strip(),
        SEARCHED: state.get("search_query"),
    }
    if parts:  # Where the passages of each stand in the context, best first, and their scores for it.
        hits = [passages_of(number, passages) for number in range(len(parts))]
        facts[PARTS] = [
            {**part, "places": [place for place, _ in some], "scores": [one["score"] for _, one in some]}
            for part, some in zip(parts, hits, strict=True)
        ]
    return facts


def _context(state: Contextualised) -> Context:
    """Return the context; text alone is one without passages."""
    given: Any = state["context"]
    return Context(text=given, passages=[]) if isinstance(given, str) else state["context"]


def _callbacks(config: RunnableConfig | None) -> Any:
    return ensure_config(config).get("callbacks")


PIECE_S = 0.02
MOST_UNREAD = 64

Chunk = TypeVar("Chunk")


def pieces(chunks: Iterator[Chunk], now: Callable[[], float]) -> Iterator[list[Chunk]]:
    """Yield the chunks in pieces. What came after a piece waits for the first chunk past its 20 ms, or for the end."""
    held: list[Chunk] = []
    due = float("-inf")
    for chunk in chunks:
        held.append(chunk)
        if now() >= due:
            yield held
            held, due = [], now() + PIECE_S
    if held:
        yield held


async def apieces(
    chunks: AsyncIterator[Chunk], callbacks: Any, limit: AbstractAsyncContextManager[None]
) -> AsyncIterator[list[Chunk]]:
    """Yield the chunks in pieces; they are read within `limit`.

    They are read in a task of their own. It is at most `MOST_UNREAD` chunks ahead of the reader, and it is cancelled
    once when the reader leaves: a web server cancels a stream again and again until it has ended, and would break off
    what closes the connection to the model.
    """
    held: list[Chunk] = []
    news, room = asyncio.Event(), asyncio.Event()

    async def read() -> None:
        async with limit:
            async for chunk in chunks:
                held.append(chunk)
                news.set()
                if len(held) >= MOST_UNREAD:
                    room.clear()
                    await room.wait()

    reading = asyncio.create_task(read())
    reading.add_done_callback(lambda _: news.set())
    register(callbacks, reading.cancel)
    try:
        while held or not reading.done():
            await news.wait()
            news.clear()
            if held:
                piece, held[:] = held[:], []
                room.set()
                yield piece
                await asyncio.wait((reading,), timeout=PIECE_S)
        await reading
    finally:
        reading.cancel()
        await asyncio.wait((reading,))  # A wait can be cancelled without the task that it is for.
