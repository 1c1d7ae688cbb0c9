"""Mark degraded answers with their reason, and keep them out of LangChain's cache."""

from typing import Any

from langchain_core.caches import RETURN_VAL_TYPE, BaseCache
from langchain_core.messages import AIMessageChunk
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from chains.errors import LLMCircuitError, LLMError, LLMRateLimitError, LLMReplyError, LLMTimeoutError
from chains.metadata import DEGRADED

BROKE_OFF = "The language model broke off in the middle of the answer"
INSTEAD = "the words are quoted from the documents instead"

_REASONS: dict[type[LLMError], str] = {
    LLMCircuitError: "The language model is out of order",
    LLMRateLimitError: "The language model is busy",
    LLMTimeoutError: "The language model did not answer in time",
    LLMReplyError: "The language model's reply could not be read",
    LLMError: "The language model could not be reached",
}


def reason_of(error: LLMError) -> str:
    return next(f"{reason}; {INSTEAD}" for kind, reason in _REASONS.items() if isinstance(error, kind))


def marked(result: ChatResult, reason: str) -> ChatResult:
    for generation in result.generations:
        generation.message.response_metadata[DEGRADED] = reason
    return result


def mark(reason: str) -> ChatGenerationChunk:
    """Return a chunk without words that marks the message it belongs to."""
    return ChatGenerationChunk(message=AIMessageChunk(content="", response_metadata={DEGRADED: reason}))


def broken_off(model: str | None, *, prompt_tokens: int, completion_tokens: int) -> ChatGenerationChunk:
    """Return the chunk that ends a message that broke off; its usage is our own count."""
    usage = UsageMetadata(
        input_tokens=prompt_tokens,
        output_tokens=completion_tokens,
        total_tokens=prompt_tokens + completion_tokens,
    )
    metadata = {"finish_reason": "error", "model_name": model, DEGRADED: BROKE_OFF}
    return ChatGenerationChunk(message=AIMessageChunk(content="", response_metadata=metadata, usage_metadata=usage))


class UndegradedCache(BaseCache):
    """LangChain's `cache` of models, which keeps no degraded answer: the model may answer the next question."""

    def __init__(self, cache: BaseCache) -> None:
        self._cache = cache

    def lookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        return self._cache.lookup(prompt, llm_string)

    async def alookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        return await self._cache.alookup(prompt, llm_string)

    def update(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        if not _degraded(return_val):
            self._cache.update(prompt, llm_string, return_val)

    async def aupdate(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        if not _degraded(return_val):
            await self._cache.aupdate(prompt, llm_string, return_val)

    def clear(self, **kwargs: Any) -> None:
        self._cache.clear(**kwargs)


def _degraded(generations: RETURN_VAL_TYPE) -> bool:
    messages = (generation.message for generation in generations if isinstance(generation, ChatGeneration))
    return any(DEGRADED in message.response_metadata for message in messages)
