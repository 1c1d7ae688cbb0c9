"""What stands around a call of the chain: observers of it, its conversation, and what of the answer its caller sees."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID, uuid4

from langchain_core.runnables import ConfigurableFieldSpec, Runnable, RunnableConfig, ensure_config
from langchain_core.runnables.graph import Graph

from chains.documents.audience import Audience, audience_in
from chains.errors import SessionError
from chains.history import Turn
from chains.logs import get_logger
from chains.output import AnswerChunk, merge
from chains.side_steps import side_step
from chains.state import Answer

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call of a chain, with `invoke` or, where it is `streamed`, with `stream`."""

    bound: Runnable[Any, Any]
    question: Any
    config: RunnableConfig | None
    options: dict[str, Any]
    streamed: bool = False

    def ask(self, question: Any) -> Iterator[Any]:
        """Return the parts of the chain's answer; without a stream the whole answer is the one part."""
        if self.streamed:
            return self.bound.stream(question, self.config, **self.options)
        return iter([self.bound.invoke(question, self.config, **self.options)])

    def aask(self, question: Any) -> AsyncIterator[Any]:
        ask = self.bound.astream if self.streamed else self._whole
        return ask(question, self.config, **self.options)

    async def _whole(self, question: Any, config: RunnableConfig | None, **options: Any) -> AsyncIterator[Any]:
        yield await self.bound.ainvoke(question, config, **options)


@dataclass(eq=False, repr=False)
class Around(Runnable[Any, Any]):
    """Call the `bound` chain, and do something around each call.

    Schemas, graph, callbacks and traces are the chain's: this makes no run of its own. Override `before` and `shown` to
    change the question and the parts of the answer; override `parts` and `aparts` to do more. Each way of calling goes
    through one of these two, and a batch calls `invoke` for each question.
    """

    bound: Runnable[Any, Any]

    def before(self, question: Any, config: RunnableConfig | None) -> Any:
        return question

    def shown(self, part: Any, config: RunnableConfig | None) -> Any:
        """Return what the caller gets of a part of the answer, or of the whole answer."""
        return part

    def parts(self, call: Invocation) -> Iterator[Any]:
        for part in call.ask(self.before(call.question, call.config)):
            yield self.shown(part, call.config)

    async def aparts(self, call: Invocation) -> AsyncIterator[Any]:
        async for part in call.aask(self.before(call.question, call.config)):
            yield self.shown(part, call.config)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return _whole(self.parts(Invocation(self.bound, input, config, kwargs)))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return _whole([part async for part in self.aparts(Invocation(self.bound, input, config, kwargs))])

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        return self.parts(Invocation(self.bound, input, config, kwargs, streamed=True))

    def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:
        return self.aparts(Invocation(self.bound, input, config, kwargs, streamed=True))

    def get_name(self, suffix: str | None = None, *, name: str | None = None) -> str:
        return self.bound.get_name(suffix, name=name)

    @property
    def steps(self) -> Sequence[Runnable[Any, Any]]:
        steps: Sequence[Runnable[Any, Any]] = self.bound.steps  # type: ignore[attr-defined]  # A sequence has them.
        return steps

    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        return self.bound.get_input_schema(config)

    def get_output_schema(self, config: RunnableConfig | None = None) -> Any:
        return self.bound.get_output_schema(config)

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        return self.bound.config_specs

    def get_graph(self, config: RunnableConfig | None = None) -> Graph:
        return self.bound.get_graph(config)


def _whole(parts: Iterable[Any]) -> Any:
    first, *others = parts
    return merge([first, *others]) if others else first


STAFF_ONLY = {"confidence": "factors", "metadata": "timings_ms"}
"""A field of an answer, and the part of it that only callers with access to internal documents see."""


def for_strangers(part: Mapping[str, Any]) -> AnswerChunk:
    """Return an answer, or a part of one, with the fields for staff emptied."""
    hidden = {name: {**part[name], STAFF_ONLY[name]: {}} for name in STAFF_ONLY if part.get(name)}
    return AnswerChunk({**part, **hidden})


class Disclosure(Around):
    """The `bound` chain, whose answers to the public lack what only staff sees."""

    def shown(self, part: Any, config: RunnableConfig | None) -> Any:
        return for_strangers(part) if audience_in(config) == "public" else part


LEFT = (asyncio.CancelledError, GeneratorExit)
"""What ends a call whose client goes away; nothing has failed."""


@dataclass
class Call:
    """One call of the chain.

    Attributes:
        question: The question with its options.
        metadata: The metadata of the call's config: `request_id`, `user_id`, `session_id` and the like.
        audience: Which documents its caller sees.
        streamed: Whether the answer was streamed.
        answer: The whole answer; None while the call runs, and where it failed or the client left.
        error: What ended the call early; a client that leaves is a cancellation or GeneratorExit.
        seconds: How long the call took, including the reader's pauses in a stream.
        id: Identifies the call where there is no `request_id`.
    """

    question: Mapping[str, Any]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    audience: Audience = "internal"
    streamed: bool = False
    answer: Answer | None = None
    error: BaseException | None = None
    seconds: float = 0.0
    id: UUID = field(default_factory=uuid4)


class Observer(Protocol):
    """Is notified of the calls of a chain. It must not block; its exceptions are logged and do not reach the caller."""

    def started(self, call: Call, /) -> None:
        del call  # An observer of the end alone needs nothing of it.

    def ended(self, call: Call, /) -> None:
        """Handle the end of a call: `answer` or `error` is set."""


@dataclass(eq=False, repr=False)
class ObservedRunnable(Around):
    """The `bound` chain, with observers of its calls."""

    observers: Sequence[Observer]
    clock: Callable[[], float] = field(default=time.perf_counter, kw_only=True)

    def parts(self, call: Invocation) -> Iterator[Any]:
        with self._watch(call) as parts:
            for part in call.ask(call.question):
                parts.append(part)
                yield part

    async def aparts(self, call: Invocation) -> AsyncIterator[Any]:
        with self._watch(call) as parts:
            async for part in call.aask(call.question):
                parts.append(part)
                yield part

    @contextmanager
    def _watch(self, invocation: Invocation) -> Iterator[list[Any]]:
        """Report the call whose parts the body collects."""
        question, parts = invocation.question, list[Any]()
        asked = question if isinstance(question, Mapping) else {"question": question}
        config = ensure_config(invocation.config)
        call = Call(dict(asked), dict(config.get("metadata") or {}), audience_in(config), invocation.streamed)
        started = self.clock()
        self._notify("started", call)
        try:
            yield parts
            call.answer = merge(parts)
        except BaseException as error:
            call.error = error
            raise
        finally:
            call.seconds = self.clock() - started
            self._notify("ended", call)

    def _notify(self, event: str, call: Call) -> None:
        for observer in self.observers:
            with side_step(type(observer).__name__):
                getattr(observer, event)(call)


SESSION = "session_id"


def user_of(config: RunnableConfig | None) -> str:
    """Return the `user_id` in the metadata of a config; "" if the caller is unknown."""
    return str((ensure_config(config).get("metadata") or {}).get("user_id") or "")


def owner_of(config: RunnableConfig | None) -> str:
    """Return the owner of a call's conversations: the user and the audience.

    An answer may quote internal documents, so the public page on a machine never shows what its staff asked.
    """
    return f"{audience_in(config)}:{user_of(config)}"


class ConversationStore(Protocol):
    """Stores the turns of conversations by owner and session; session ids are per owner.

    Every method raises SessionError where the store is unavailable. A damaged conversation counts as none.
    """

    async def turns(self, session_id: str, owner: str) -> list[Turn]:
        """Return the turns, oldest first; none where the owner has no such conversation."""

    async def add(self, session_id: str, owner: str, turns: Sequence[Turn]) -> None:
        """Append the turns in one step; the first ones begin the conversation."""

    async def delete(self, session_id: str, owner: str) -> None:
        """Forget a conversation; SessionNotFoundError where it is unknown."""


@dataclass(eq=False, repr=False)
class WithConversations(Around):
    """The `bound` chain, which reads and keeps the conversation of a question with a `session_id`.

    A `history` that the client sends wins, and its answer is kept too. A conversation belongs to `owner_of` the
    config; the id of an anonymous caller needs at least `shortest_anonymous` characters. Each call reads the
    conversation when it begins and adds question and answer together when it ends, so that two calls at once do not
    mix. Synchronous calls neither read nor keep one.
    """

    store: ConversationStore
    shortest_anonymous: int = field(default=1, kw_only=True)

    def before(self, question: Any, config: RunnableConfig | None) -> Any:
        return _without_session(question)

    async def aparts(self, call: Invocation) -> AsyncIterator[Any]:
        """Yield the parts of the answer; SessionError where the conversation cannot be read at the moment."""
        question, parts, owner = _without_session(call.question), [], owner_of(call.config)
        session_id = str(call.question.get(SESSION) or "") if isinstance(call.question, Mapping) else ""
        is_kept = len(session_id) >= (1 if user_of(call.config) else self.shortest_anonymous)
        turns = await self.store.turns(session_id, owner) if is_kept else []
        if turns and not question.get("history"):
            question |= {"history": [{"role": turn.role, "content": turn.text} for turn in turns]}
        async for part in call.aask(question):
            parts.append(part)
            yield part
        answer = merge(parts)
        if not is_kept or answer["outcome"] == "blocked":
            return
        said = [Turn("user", answer["question"].strip()), Turn("assistant", answer["answer"].strip())]
        try:
            await self.store.add(session_id, owner, said)
        except SessionError as error:  # The answer is there; its reader gets it.
            log.warning("conversation_not_kept", error=type(error).__name__)


def _without_session(question: Any) -> Any:
    if not isinstance(question, Mapping):
        return question
    return {name: value for name, value in question.items() if name != SESSION}
