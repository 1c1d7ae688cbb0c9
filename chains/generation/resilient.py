"""A chat model over several providers that answers as long as any of them does.

The providers are called in turn, each behind its own retries, rate limiter and breaker; the last resort needs no
network. A message of the last resort, or one that broke off, carries the reason as `degraded` in `response_metadata`.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing, contextmanager
from typing import Any, ClassVar, Self

from langchain_core.caches import BaseCache
from langchain_core.globals import get_llm_cache
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult, LLMResult
from langchain_core.runnables import ensure_config
from pydantic import ConfigDict, Field, SkipValidation

from chains.errors import LLMError
from chains.generation import compat
from chains.generation.provider import Provider, Request
from chains.generation.reply import UndegradedCache, mark, marked, reason_of
from chains.logs import get_logger
from chains.ports import FourCharacters, TokenCounter

log = get_logger(__name__)

# Roles and separators around each message, in the chat formats of the Llama and OpenAI families.
TOKENS_PER_MESSAGE = 4


class ResilientChatModel(BaseChatModel):
    """Calls the `providers` in turn.

    Attributes:
        providers: In order of preference; a request that one rejects is not sent to the next.
        last_resort: Answers without a network where no provider did; None makes it an error.
        max_tokens: The longest reply, in tokens; the rate limiter counts it beside the prompt.
        tokens: Counts the prompt's tokens.
        hides_reasoning: What a provider's model thinks aloud is in no message.
        keeps_deadline: Each request is made within the time of its call, so that the last resort can still answer.
    """

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

    def generate(self, *args: Any, **kwargs: Any) -> LLMResult:
        """Return LangChain's result; a degraded answer is not kept in LangChain's cache of models."""
        return super(ResilientChatModel, self._with_cache()).generate(*args, **kwargs)

    async def agenerate(self, *args: Any, **kwargs: Any) -> LLMResult:
        return await super(ResilientChatModel, self._with_cache()).agenerate(*args, **kwargs)

    def _with_cache(self) -> Self:
        cache = self.cache if isinstance(self.cache, BaseCache) else get_llm_cache()
        if cache is None or self.cache is False:
            return self
        return self.model_copy(update={"cache": UndegradedCache(cache)})

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
        """Return what answers without a network, and why it has to."""
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
