"""A chat model behind its retries, circuit breaker and rate limiter."""

from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import aclosing, closing, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from chains.callbacks import left_s
from chains.clock import Clock
from chains.errors import LLMError, LLMRateLimitError, LLMTimeoutError
from chains.generation import compat
from chains.generation.rate_limiter import RateLimiter, Reservation
from chains.generation.reply import Reply, broken_off, readable
from chains.logs import get_logger
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
            reply = compat.generate(self.model, **self._arguments(request))
            return _read(request, reservation, reply)

    async def _agenerate(self, request: Request) -> ChatResult:
        with self._attempt(request) as (reservation, wait):
            await self.clock.asleep(wait)
            reply = await compat.agenerate(self.model, **self._arguments(request))
            return _read(request, reservation, reply)

    def _open(self, request: Request) -> tuple[list[ChatGenerationChunk], Chunks]:
        """Return the chunks up to the first words, and the rest of the stream."""
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
            tokens = request.prompt_tokens() + request.max_tokens if self.limiter.counts_tokens else 0
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
        model = getattr(self.model, "model_name", None)
        return broken_off(model, prompt_tokens=request.prompt_tokens(), completion_tokens=request.words)


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
