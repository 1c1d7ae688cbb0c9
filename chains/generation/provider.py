"""A chat model, its breaker and its budget -> answers, or the error that says why there is none."""

from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import aclosing, closing, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, cast

import structlog
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from chains.callbacks.deadline import left_s
from chains.clock import Clock
from chains.errors import LLMError, LLMRateLimitError, LLMTimeoutError
from chains.generation.breaker import Breaker
from chains.generation.budget import Budget, Place
from chains.generation.degraded import broken_off
from chains.generation.retry import Retries, RetryPolicy, aretrying, retrying

log = structlog.get_logger(__name__)

Chunks = Generator[ChatGenerationChunk]
AsyncChunks = AsyncGenerator[ChatGenerationChunk]


@dataclass(frozen=True)
class Request:
    """What is asked of a model: the messages and LangChain's own arguments.

    Attributes:
        callbacks: Those of the call it belongs to, which know how long that may take.
        prompt_tokens: Counts the prompt, which costs milliseconds: where it is asked for only.
        max_tokens: The longest reply.
    """

    messages: list[BaseMessage]
    stop: list[str] | None
    run_manager: Any
    callbacks: Any
    prompt_tokens: Callable[[], int]
    max_tokens: int
    options: dict[str, Any] = field(default_factory=dict)

    def left_s(self) -> float:
        """Return the seconds that the call has left."""
        return left_s(self.callbacks)

    def time_s(self) -> float:
        """Return the seconds that the call has left.

        Raises:
            LLMTimeoutError: none are.
        """
        if (left := self.left_s()) <= 0:
            msg = "the time for the question was used up before the language model answered; ask again"
            raise LLMTimeoutError(msg)
        return left


@dataclass(frozen=True)
class Provider:
    """A chat model that is asked within its budget, again where it pays, and not at all while its breaker is open.

    Attributes:
        model: raises the errors of `chains.errors`, retries nothing itself, and takes a `timeout` in seconds.
        timeout_s: the most that one attempt may take.
        retries: counts the attempts that repeat another.
    """

    model: BaseChatModel
    breaker: Breaker
    budget: Budget
    clock: Clock
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    timeout_s: float = 60
    retries: Retries = field(default_factory=Retries)

    def generate(self, request: Request) -> ChatResult:
        """Return the model's answer."""
        result: ChatResult = retrying(*self._rules(request))(self._generate, request)
        return result

    async def agenerate(self, request: Request) -> ChatResult:
        """Return the model's answer."""
        result: ChatResult = await aretrying(*self._rules(request))(self._agenerate, request)
        return result

    def stream(self, request: Request) -> Chunks:
        """Yield the answer's chunks; what fails after the first words ends them with a chunk that says so."""
        opened: tuple[Any, Any] = retrying(*self._rules(request))(self._open, request)
        (head, rest), words = opened, 0
        with closing(rest):
            try:
                for chunk in chain(head, rest):
                    words += bool(chunk.text)
                    yield chunk
            except LLMError as error:
                yield self._broken_off(request, words, error)

    async def astream(self, request: Request) -> AsyncChunks:
        """Yield the answer's chunks; what fails after the first words ends them with a chunk that says so."""
        opened: tuple[Any, Any] = await aretrying(*self._rules(request))(self._aopen, request)
        (head, rest), words = opened, 0
        async with aclosing(rest):
            try:
                for chunk in head:
                    words += bool(chunk.text)
                    yield chunk
                async for chunk in rest:
                    words += bool(chunk.text)
                    yield chunk
            except LLMError as error:
                yield self._broken_off(request, words, error)

    def _rules(self, request: Request) -> tuple[RetryPolicy, Clock, Callable[[], float], Retries]:
        def left_s() -> float:
            # Once the breaker is open no wait is begun, for no call would follow.
            return 0.0 if self.breaker.state == "open" else request.left_s()

        return self.policy, self.clock, left_s, self.retries

    def _generate(self, request: Request) -> ChatResult:
        with self._turn(request) as (place, wait):
            self.clock.sleep(wait)
            result = self.model._generate(**self._arguments(request))
            self._settle(place, result.generations[0].message)
            return result

    async def _agenerate(self, request: Request) -> ChatResult:
        with self._turn(request) as (place, wait):
            await self.clock.asleep(wait)
            result = await self.model._agenerate(**self._arguments(request))
            self._settle(place, result.generations[0].message)
            return result

    def _open(self, request: Request) -> tuple[list[ChatGenerationChunk], Chunks]:
        """Return the chunks up to the first words, and the rest as they come."""
        chunks = self._stream(request)
        head = []
        for chunk in chunks:
            head.append(chunk)
            if chunk.text:
                break
        return head, chunks

    async def _aopen(self, request: Request) -> tuple[list[ChatGenerationChunk], AsyncChunks]:
        """Return the chunks up to the first words, and the rest as they come."""
        chunks = self._astream(request)
        head = []
        async for chunk in chunks:
            head.append(chunk)
            if chunk.text:
                break
        return head, chunks

    def _stream(self, request: Request) -> Chunks:
        with self._turn(request) as (place, wait):
            self.clock.sleep(wait)
            with closing(cast("Any", self.model._stream(**self._arguments(request)))) as chunks:
                for chunk in chunks:
                    self._settle(place, chunk.message)
                    yield chunk

    async def _astream(self, request: Request) -> AsyncChunks:
        with self._turn(request) as (place, wait):
            await self.clock.asleep(wait)
            async with aclosing(cast("Any", self.model._astream(**self._arguments(request)))) as chunks:
                async for chunk in chunks:
                    self._settle(place, chunk.message)
                    yield chunk

    @contextmanager
    def _turn(self, request: Request) -> Iterator[tuple[Place, float]]:
        with self.breaker.guarding():
            size = request.prompt_tokens() + request.max_tokens if self.budget.counts_tokens else 0
            place, wait = self.budget.take(size, left_s=request.time_s())
            try:
                yield place, wait
            except LLMRateLimitError as error:
                self.budget.close(error.retry_after_s or 0)
                raise
            finally:
                if place.at > self.clock.now():
                    self.budget.give_back(place)  # It was left before its turn came.

    def _arguments(self, request: Request) -> dict[str, Any]:
        return {
            "messages": request.messages,
            "stop": request.stop,
            "run_manager": request.run_manager,
            "timeout": min(self.timeout_s, request.time_s()),
            **request.options,
        }

    def _broken_off(self, request: Request, words: int, error: LLMError) -> ChatGenerationChunk:
        log.warning("answer_broke_off", error=type(error).__name__)
        model = getattr(self.model, "model_name", None)
        return broken_off(model, prompt_tokens=request.prompt_tokens(), completion_tokens=words)

    def _settle(self, place: Place, message: BaseMessage) -> None:
        usage = message.usage_metadata if isinstance(message, AIMessage) else None
        if usage:
            self.budget.settle(place, usage["total_tokens"])
