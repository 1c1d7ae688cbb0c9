"""Limit a model's reply: remove its thoughts, and stop it at a few times the tokens that were asked for.

A request states the maximum of tokens. A provider that ignores it, by mistake or on purpose, could write until the
question's time is over, and all of it would be kept.
"""

from typing import Any

from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from chains.generation.reasoning import ReasoningFilter, without_reasoning
from chains.logs import get_logger

log = get_logger(__name__)

# Tokens are estimated, and some providers do not count what a model thinks aloud.
TOLERANCE = 8
CHARACTERS_PER_TOKEN = 4
TOO_LONG = {"finish_reason": "length"}


class Reply:
    """Takes the chunks of one streamed reply and returns what may be read; each chunk counts as one token at least.

    Attributes:
        is_full: Whether the reply is longer than its allowance; its last chunk then has the finish reason `length`.
    """

    def __init__(self, max_tokens: int) -> None:
        self._max_tokens = max_tokens
        self._left = float(TOLERANCE * max_tokens)
        self._words = ReasoningFilter()
        self.is_full = False

    def feed(self, chunk: ChatGenerationChunk) -> ChatGenerationChunk:
        """Take the next chunk, and return what may be read of it."""
        self._left -= max(1.0, len(chunk.text) / CHARACTERS_PER_TOKEN)
        if self._left < 0:
            self.is_full = True
            log.warning("reply_cut", max_tokens=self._max_tokens)
            return ChatGenerationChunk(message=AIMessageChunk(content="", response_metadata=dict(TOO_LONG)))
        content = chunk.message.content
        if not isinstance(content, str) or (shown := self._words.feed(content)) == content:
            return chunk
        message = chunk.message.model_copy(update={"content": shown})
        return ChatGenerationChunk(message=message, generation_info=chunk.generation_info)

    def flush(self) -> list[ChatGenerationChunk]:
        """Return the rest, once the reply has ended."""
        rest = self._words.flush()
        return [ChatGenerationChunk(message=AIMessageChunk(content=rest))] if rest else []


def readable(result: ChatResult, max_tokens: int) -> ChatResult:
    """Return the result with messages without thoughts, none longer than its allowance."""
    most = TOLERANCE * max_tokens * CHARACTERS_PER_TOKEN
    messages = [without_reasoning(one.message) for one in result.generations]
    if any(len(message.text) > most for message in messages):
        log.warning("reply_cut", max_tokens=max_tokens)
    generations = [
        ChatGeneration(message=_cut(message, most), generation_info=one.generation_info)
        for message, one in zip(messages, result.generations, strict=True)
    ]
    return ChatResult(generations=generations, llm_output=result.llm_output)


def _cut(message: BaseMessage, most: int) -> BaseMessage:
    if len(message.text) <= most:
        return message
    metadata: dict[str, Any] = message.response_metadata | TOO_LONG
    return message.model_copy(update={"content": message.text[:most], "response_metadata": metadata})
