"""Why an answer is not what it should be -> a mark on the message, and the mark in words."""

from langchain_core.messages import AIMessageChunk
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from chains.errors import LLMCircuitError, LLMError, LLMRateLimitError, LLMReplyError, LLMTimeoutError
from chains.state import DEGRADED

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
    """Return the error in words for the one who asked."""
    return next(f"{reason}; {INSTEAD}" for kind, reason in _REASONS.items() if isinstance(error, kind))


def marked(result: ChatResult, reason: str) -> ChatResult:
    """Return the result, its message marked."""
    for generation in result.generations:
        generation.message.response_metadata[DEGRADED] = reason
    return result


def mark(reason: str) -> ChatGenerationChunk:
    """Return a chunk without words that marks the message it is a part of."""
    return ChatGenerationChunk(message=AIMessageChunk(content="", response_metadata={DEGRADED: reason}))


def broken_off(model: str | None, *, prompt_tokens: int, completion_tokens: int) -> ChatGenerationChunk:
    """Return the chunk that ends a message which broke off; its usage is our own count."""
    usage = UsageMetadata(
        input_tokens=prompt_tokens,
        output_tokens=completion_tokens,
        total_tokens=prompt_tokens + completion_tokens,
    )
    metadata = {"finish_reason": "error", "model_name": model, DEGRADED: BROKE_OFF}
    return ChatGenerationChunk(message=AIMessageChunk(content="", response_metadata=metadata, usage_metadata=usage))
