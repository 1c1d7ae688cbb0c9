"""A chat model over several providers that answers as long as any of them does.

The providers are called in turn, each behind its own retries, rate limiter and breaker; the last resort needs no
network. A message of the last resort, or one that broke off, carries the reason as `degraded` in `response_metadata`.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from contextlib import aclosing, closing, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar, TypeVar

from langchain_core.caches import BaseCache
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import ensure_config
from pydantic import ConfigDict, Field, SkipValidation

from chains.callbacks import left_s
from chains.clock import Clock
from chains.errors import LLMError, LLMRateLimitError, LLMTimeoutError
from chains.generation import compat
from chains.generation.rate_limiter import RateLimiter, Reservation
from chains.generation.reply import BROKE_OFF, Reply, mark, marked, readable, reason_of
from chains.logs import get_logger
from chains.metadata import DEGRADED
from chains.ports import FourCharacters, TokenCounter
from chains.resilience import CircuitBreaker, RetryCounter, RetryPolicy, aretrying, retrying

log = get_logger(__name__)

Chunks = Generator[ChatGenerationChunk]
AsyncChunks = AsyncGenerator[ChatGenerationChunk]
Part = TypeVar("Part", bound=ChatGeneration)


@dataclass
class Request:
    """One request for a model: the messages and LangChain's own arguments.

    Attributes:
        callbacks: Those of the call, which hold its deadline.
        prompt_tokens: Counts the prompt's tokens, which takes milliseconds; called only where needed.
        max_tokens: The longest reply.
        attempts: How often a provider was asked; a trace shows the retries with the message.
        words: How many pieces of the last attempt's stream had words.
    """

    messages: list[BaseMessage]
    stop: list[str] | None
    run_manager: Any
    callbacks: Any
    prompt_tokens: Callable[[], int]
    max_tokens: int
    options: dict[str, Any] = field(default_factory=dict)
    attempts: int = 0
    words: int = 0

    def counted(self, chunk: ChatGenerationChunk) -> ChatGenerationChunk:
        self.words += bool(chunk.text)
        return chunk

    def left_s(self) -> float:
        """Return the seconds until the call's deadline, 0 or more."""
        return left_s(self.callbacks)

    @property
    def longest_reply(self) -> int:
        return max(self.max_tokens, self.options.get("max_tokens") or 0)

    def require_time_s(self) -> float:
        """Return the seconds until the call's deadline; LLMTimeoutError where it has passed."""
        if (left := self.left_s()) <= 0:
            raise LLMTimeoutError("the time for the question was used up before the language model answered; ask again")
        return left


@dataclass(frozen=True)
class Provider:
    """Calls a chat model within its rate limits, retries it, and does not call it while its breaker is open.

    Attributes:
        model: raises the errors of `chains.errors`, retries nothing itself, and takes a `timeout` in seconds.
        timeout_s: the most that one attempt may take.
        retries: counts the retries.
    """

    model: BaseChatModel
    breaker: CircuitBreaker
    limiter: RateLimiter
    clock: Clock
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    timeout_s: float = 60
    retries: RetryCounter = field(default_factory=RetryCounter)

    def generate(self, request: Request) -> ChatResult:
        result: ChatResult = retrying(*self._rules(request))(self._generate, request)
        return result

    async def agenerate(self, request: Request) -> ChatResult:
        result: ChatResult = await aretrying(*self._rules(request))(self._agenerate, request)
        return result

    def stream(self, request: Request) -> Chunks:
        """Yield the answer's chunks; a failure after the first words ends them with a chunk that reports it."""
        opened: tuple[Any, Any] = retrying(*self._rules(request))(self._open, request)
        head, rest = opened
        with closing(rest):
            try:
                yield from chain(head, rest)
            except LLMError as error:
                yield self._broken_off(request, error)

    async def astream(self, request: Request) -> AsyncChunks:
        opened: tuple[Any, Any] = await aretrying(*self._rules(request))(self._aopen, request)
        head, rest = opened
        async with aclosing(rest):
            try:
                for chunk in head:
                    yield chunk
                async for chunk in rest:
                    yield chunk
            except LLMError as error:
                yield self._broken_off(request, error)

    def _rules(self, request: Request) -> tuple[RetryPolicy, Clock, Callable[[], float], RetryCounter]:
        def left_s() -> float:
            # No retry would be sent while the breaker is open, so no wait for one is started.
            return 0.0 if self.breaker.state == "open" else request.left_s()

        return self.policy, self.clock, left_s, self.retries

    def _generate(self, request: Request) -> ChatResult:
        with self._attempt(request) as (reservation, wait):
            self.clock.sleep(wait)
            return _read(request, reservation, compat.generate(self.model, **self._arguments(request)))

    async def _agenerate(self, request: Request) -> ChatResult:
        with self._attempt(request) as (reservation, wait):
            await self.clock.asleep(wait)
            return _read(request, reservation, await compat.agenerate(self.model, **self._arguments(request)))

    def _open(self, request: Request) -> tuple[list[ChatGenerationChunk], Chunks]:
        chunks, head = self._stream(request), []
        for chunk in chunks:
            head.append(chunk)
            if chunk.text:
                break
        return _described(request, head), chunks

    async def _aopen(self, request: Request) -> tuple[list[ChatGenerationChunk], AsyncChunks]:
        chunks, head = self._astream(request), []
        async for chunk in chunks:
            head.append(chunk)
            if chunk.text:
                break
        return _described(request, head), chunks

    def _stream(self, request: Request) -> Chunks:
        reply = Reply(request.longest_reply)
        with self._attempt(request) as (reservation, wait):
            self.clock.sleep(wait)
            with closing(compat.stream(self.model, **self._arguments(request))) as chunks:
                for chunk in chunks:
                    _reconcile(reservation, chunk.message)
                    yield request.counted(reply.feed(chunk))
                    if reply.is_full:
                        break
            yield from reply.flush()

    async def _astream(self, request: Request) -> AsyncChunks:
        reply = Reply(request.longest_reply)
        with self._attempt(request) as (reservation, wait):
            await self.clock.asleep(wait)
            async with aclosing(compat.astream(self.model, **self._arguments(request))) as chunks:
                async for chunk in chunks:
                    _reconcile(reservation, chunk.message)
                    yield request.counted(reply.feed(chunk))
                    if reply.is_full:
                        break
            for rest in reply.flush():
                yield rest

    @contextmanager
    def _attempt(self, request: Request) -> Iterator[tuple[Reservation, float]]:
        with self.breaker.guard():
            tokens = request.prompt_tokens() + request.max_tokens if self.limiter.tokens else 0
            reservation, wait = self.limiter.reserve(tokens, left_s=request.require_time_s())
            request.attempts, request.words = request.attempts + 1, 0
            try:
                yield reservation, wait
            except LLMRateLimitError as error:
                self.limiter.pause(error.retry_after_s or 0)
                raise
            finally:
                self.limiter.release(reservation)

    def _arguments(self, request: Request) -> dict[str, Any]:
        return {
            "messages": request.messages,
            "stop": request.stop,
            "run_manager": request.run_manager,
            "timeout": min(self.timeout_s, request.require_time_s()),
            **request.options,
        }

    def _broken_off(self, request: Request, error: LLMError) -> ChatGenerationChunk:
        log.warning("answer_broke_off", error=type(error).__name__)
        model, read, written = getattr(self.model, "model_name", None), request.prompt_tokens(), request.words
        usage = UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)  # Our own count.
        metadata = {"finish_reason": "error", "model_name": model, DEGRADED: BROKE_OFF}
        return ChatGenerationChunk(message=AIMessageChunk(content="", response_metadata=metadata, usage_metadata=usage))


def _read(request: Request, reservation: Reservation, reply: ChatResult) -> ChatResult:
    """Return what may be read of a reply, and count its tokens."""
    result = readable(reply, request.longest_reply)
    _reconcile(reservation, result.generations[0].message)
    _described(request, result.generations)
    return result


def _reconcile(reservation: Reservation, message: BaseMessage) -> None:
    """Replace the expected tokens by those that the provider reports."""
    usage = message.usage_metadata if isinstance(message, AIMessage) else None
    if usage:
        reservation.tokens = usage.get("total_tokens", reservation.tokens)


def _described(request: Request, parts: list[Part]) -> list[Part]:
    """Return the parts of a reply, of which the first says how often it was asked for again."""
    for first in parts[:1] if request.attempts > 1 else ():
        first.message.response_metadata["retries"] = request.attempts - 1
    return parts


# Roles and separators around each message, in the chat formats of the Llama and OpenAI families.
TOKENS_PER_MESSAGE = 4


class ResilientChatModel(BaseChatModel):
    """Calls the `providers` in turn.

    Attributes:
        cache: LangChain's cache of models is not asked: it would keep a degraded answer.
        providers: In order of preference; a request that one rejects is not sent to the next.
        last_resort: Answers without a network where no provider did; None makes it an error.
        max_tokens: The longest reply, in tokens; the rate limiter counts it beside the prompt.
        tokens: Counts the prompt's tokens.
        hides_reasoning: What a provider's model thinks aloud is in no message.
        keeps_deadline: Each request is made within the time of its call, so that the last resort can still answer.
    """

    cache: BaseCache | bool | None = Field(False, exclude=True)
    providers: tuple[SkipValidation[Provider], ...] = Field(exclude=True)
    last_resort: BaseChatModel | None = Field(None, exclude=True)
    max_tokens: int = 500
    tokens: SkipValidation[TokenCounter] = Field(default_factory=FourCharacters, exclude=True)
    hides_reasoning: ClassVar[bool] = True
    keeps_deadline: ClassVar[bool] = True

    model_config = ConfigDict(arbitrary_types_allowed=True)

    @property
    def _llm_type(self) -> str:
        return "resilient"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"providers": [compat.identity(provider.model) for provider in self.providers]}

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:
        # In traces, the run counts as one of the first provider's model.
        return compat.tracing_parameters(self.providers[0].model, stop, **kwargs)

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        request, failures = self._request(messages, stop, run_manager, kwargs), list[LLMError]()
        for provider in self.providers:
            with _recorded(failures):
                return provider.generate(request)
        resort, reason = self._resort(failures)
        return marked(compat.generate(resort, messages=messages, stop=stop, run_manager=run_manager), reason)

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        request, failures = self._request(messages, stop, run_manager, kwargs), list[LLMError]()
        for provider in self.providers:
            with _recorded(failures):
                return await provider.agenerate(request)
        resort, reason = self._resort(failures)
        return marked(await compat.agenerate(resort, messages=messages, stop=stop, run_manager=run_manager), reason)

    def _stream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        request, failures = self._request(messages, stop, run_manager, kwargs), list[LLMError]()
        for provider in self.providers:
            with _recorded(failures), closing(provider.stream(request)) as chunks:
                yield from chunks
                return
        resort, reason = self._resort(failures)
        yield mark(reason)
        yield from compat.stream(resort, messages=messages, stop=stop, run_manager=run_manager)

    async def _astream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        request, failures = self._request(messages, stop, run_manager, kwargs), list[LLMError]()
        for provider in self.providers:
            with _recorded(failures):
                async with aclosing(provider.astream(request)) as chunks:
                    async for chunk in chunks:
                        yield chunk
                return
        resort, reason = self._resort(failures)
        yield mark(reason)
        async for chunk in compat.astream(resort, messages=messages, stop=stop, run_manager=run_manager):
            yield chunk

    def _request(
        self, messages: list[BaseMessage], stop: list[str] | None, run_manager: Any, options: dict[str, Any]
    ) -> Request:
        def prompt_tokens() -> int:
            return sum(self.tokens.count(str(message.text)) + TOKENS_PER_MESSAGE for message in messages)

        # LangChain passes no run manager to a stream; the call's callbacks are in the context then.
        callbacks = run_manager or ensure_config().get("callbacks")
        return Request(messages, stop, run_manager, callbacks, prompt_tokens, self.max_tokens, options)

    def _resort(self, failures: list[LLMError]) -> tuple[BaseChatModel, str]:
        error = failures[0]  # The first provider's error is the one to mend.
        if self.last_resort is None:
            raise error
        log.warning("answered_without_language_model", error=type(error).__name__)
        return self.last_resort, reason_of(error)


@contextmanager
def _recorded(failures: list[LLMError]) -> Iterator[None]:
    """Record an error after which another provider may be called; raise any other."""
    try:
        yield
    except LLMError as error:
        if not error.can_fall_back:
            raise
        failures.append(error)
