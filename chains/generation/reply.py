"""What may be read of a model's reply, and how one is marked that is not what it should be.

No thoughts are read, and a few times the tokens that were asked for at most: a request states the maximum, and a
provider that ignores it, by mistake or on purpose, could write until the question's time is over. A degraded answer is
marked with the reason.
"""

import re
from typing import Any, TypeVar

from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from chains.errors import LLMCircuitError, LLMError, LLMRateLimitError, LLMReplyError, LLMTimeoutError
from chains.logs import get_logger
from chains.metadata import DEGRADED

OPENING, CLOSING = "<think>", "</think>"

# A letter in lower case may be longer, as in Turkish, so that places in such a text are others.
_TAG, _CLOSING = (re.compile(tag, re.IGNORECASE | re.ASCII) for tag in (f"{OPENING}|{CLOSING}", CLOSING))

Message = TypeVar("Message", bound=BaseMessage)


class ReasoningFilter:
    """Takes a text piece by piece and returns it without the thoughts; one that is not closed goes to the end.

    Some models close a thought that they never opened: it began with the text. A stream keeps what it has shown before.
    """

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._thought = False

    def feed(self, piece: str) -> str:
        self._held += piece
        shown = ""
        while found := (_CLOSING if self._thinking else _TAG).search(self._held):
            opens = found.group().lower() == OPENING
            shown = shown + self._passed(self._held[: found.start()]) if opens or self._thinking else ""
            self._held = self._held[found.end() :]
            self._thinking, self._thought = opens, True
        tags = (CLOSING,) if self._thinking else (OPENING, CLOSING)
        begun = [tag[:length] for tag in tags for length in range(len(tag) - 1, 0, -1)] if "<" in self._held else []
        cut = len(self._held) - max((len(start) for start in begun if self._held.lower().endswith(start)), default=0)
        shown += self._passed(self._held[:cut])
        self._held = self._held[cut:]
        return shown

    def flush(self) -> str:
        rest, self._held = self._passed(self._held), ""
        return rest

    def _passed(self, text: str) -> str:
        """Return the text, without the blanks behind a thought; nothing of a thought."""
        if self._thinking:
            return ""
        shown = text.lstrip() if self._thought else text
        self._thought = self._thought and not shown
        return shown


def without_reasoning(message: Message) -> Message:
    """Return the message without its thoughts, or itself where it has none."""
    if CLOSING not in message.text.lower() and OPENING not in message.text.lower():
        return message
    words = ReasoningFilter()
    content, rest = shown_part(message, words).content, words.flush()
    if rest:
        content = content + rest if isinstance(content, str) else [*content, {"type": "text", "text": rest}]
    return message.model_copy(update={"content": content})


def shown_part(message: Message, words: ReasoningFilter | None) -> Message:
    """Return a message, or a piece of a streamed one, with what can be shown of its words; all where none hide."""
    if not words or not message.text:
        return message
    content = message.content
    if isinstance(content, str):
        return message.model_copy(update={"content": words.feed(content)})
    shown: list[Any] = []
    for block in content:
        if isinstance(block, str):
            shown.append(words.feed(block))
        else:
            shown.append({**block, "text": words.feed(block["text"])} if block.get("type") == "text" else block)
    return message.model_copy(update={"content": shown})


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
        rest = self._words.flush()
        return [ChatGenerationChunk(message=AIMessageChunk(content=rest))] if rest else []


def readable(result: ChatResult, max_tokens: int) -> ChatResult:
    """Return the result with messages without thoughts, none longer than its allowance."""
    most = TOLERANCE * max_tokens * CHARACTERS_PER_TOKEN
    generations = []
    for one in result.generations:
        message = without_reasoning(one.message)
        if len(message.text) > most:
            log.warning("reply_cut", max_tokens=max_tokens)
            update = {"content": message.text[:most], "response_metadata": message.response_metadata | TOO_LONG}
            message = message.model_copy(update=update)
        generations.append(ChatGeneration(message=message, generation_info=one.generation_info))
    return ChatResult(generations=generations, llm_output=result.llm_output)


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
    return ChatGenerationChunk(message=AIMessageChunk(content="", response_metadata={DEGRADED: reason}))
