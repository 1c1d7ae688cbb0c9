"""Several providers -> one chat model that answers as long as any of them does, and says when it had to make do.

The providers are asked in turn, each through its own retries, budget and breaker; last comes a model that needs no
network. A message that the last one wrote, or that broke off in the middle, carries the reason as `degraded` in its
`response_metadata`.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing, contextmanager
from typing import Any, ClassVar

import structlog
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import ensure_config
from pydantic import ConfigDict, Field, SkipValidation

from chains.errors import LLMError
from chains.generation.degraded import mark, marked, reason_of
from chains.generation.provider import Provider, Request
from chains.ports import TokenCounter
from chains.tokens import FourCharacters

log = structlog.get_logger(__name__)

# Roles and separators around each message, in the chat formats of the Llama and OpenAI families.
TOKENS_PER_MESSAGE = 4


class ResilientChatModel(BaseChatModel):
    """Asks the `providers` in turn.

    Attributes:
        providers: The first is asked first; one that rejects a request ends the matter.
        last_resort: Answers without a network where no provider did; None makes it an error.
        max_tokens: The longest reply, in tokens; with the prompt's it is what a request takes of a budget.
        tokens: Counts the prompt's.
        keeps_deadline: Each request is made within the time of its call, so that the last resort can still answer.
    """

    providers: tuple[SkipValidation[Provider], ...] = Field(exclude=True)
    last_resort: BaseChatModel | None = Field(None, exclude=True)
    max_tokens: int = 500
    tokens: SkipValidation[TokenCounter] = Field(default_factory=FourCharacters, exclude=True)
    keeps_deadline: ClassVar[bool] = True

    model_config = ConfigDict(arbitrary_types_allowed=True)

    @property
    def _llm_type(self) -> str:
        return "resilient"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"providers": [provider.model._identifying_params for provider in self.providers]}

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:
        # For tracing, the run is one of the first provider's model.
        return self.providers[0].model._get_ls_params(stop=stop, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        request, failures = self._request(messages, stop, run_manager, kwargs), _Failures()
        for provider in self.providers:
            with failures.noted():
                return provider.generate(request)
        return marked(self._resort(failures)._generate(messages, stop, run_manager), failures.reason)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        request, failures = self._request(messages, stop, run_manager, kwargs), _Failures()
        for provider in self.providers:
            with failures.noted():
                return await provider.agenerate(request)
        return marked(await self._resort(failures)._agenerate(messages, stop, run_manager), failures.reason)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        request, failures = self._request(messages, stop, run_manager, kwargs), _Failures()
        for provider in self.providers:
            with failures.noted(), closing(provider.stream(request)) as chunks:
                yield from chunks
                return
        resort = self._resort(failures)
        yield mark(failures.reason)
        yield from resort._stream(messages, stop, run_manager)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        request, failures = self._request(messages, stop, run_manager, kwargs), _Failures()
        for provider in self.providers:
            with failures.noted():
                async with aclosing(provider.astream(request)) as chunks:
                    async for chunk in chunks:
                        yield chunk
                return
        resort = self._resort(failures)
        yield mark(failures.reason)
        async for chunk in resort._astream(messages, stop, run_manager):
            yield chunk

    def _request(
        self, messages: list[BaseMessage], stop: list[str] | None, run_manager: Any, options: dict[str, Any]
    ) -> Request:
        def prompt_tokens() -> int:
            return sum(self.tokens.count(str(message.text)) + TOKENS_PER_MESSAGE for message in messages)

        # LangChain hands no run manager to a stream; the call's callbacks are in the context then.
        callbacks = run_manager or ensure_config().get("callbacks")
        return Request(messages, stop, run_manager, callbacks, prompt_tokens, self.max_tokens, options)

    def _resort(self, failures: "_Failures") -> BaseChatModel:
        if self.last_resort is None:
            raise failures.first
        log.warning("answered_without_language_model", error=type(failures.first).__name__)
        return self.last_resort


class _Failures:
    """Why the providers asked so far gave no answer."""

    def __init__(self) -> None:
        self.errors: list[LLMError] = []

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Take note of an error after which another may be asked; pass any other on."""
        try:
            yield
        except LLMError as error:
            if not error.can_fall_back:
                raise
            self.errors.append(error)

    @property
    def first(self) -> LLMError:
        """Return the first provider's error: the one to mend."""
        return self.errors[0]

    @property
    def reason(self) -> str:
        """Return the first provider's error in words for the one who asked."""
        return reason_of(self.first)
