"""A chat model that needs no network: it quotes sentences of the context, with their citations."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import ConfigDict, Field

from app.adapters.llm.offline.answer import answer, decline
from app.adapters.llm.offline.evidence import Evidence
from app.adapters.llm.offline.passages import context_of, entries
from app.adapters.llm.offline.question import read
from chains.history import turns_of
from chains.reformulation import standalone
from chains.tokens import FourCharacters
from chains.vectors import cosines

MODEL_NAME = "offline-extractive"


class OfflineChatModel(BaseChatModel):
    """Answer by quoting the best evidence of the context in the system message, each quote with its citation.

    The system message holds the context between the lines `<context>` and `</context>`, entries best first, each
    below its header `[Title > Section]`. Where no evidence addresses the question, the answer is a sentence that
    declines.

    Attributes:
        embeddings: Adds nearness in meaning to the lexical evidence; without it the model judges by words alone.
        max_sentences: The most statements quoted; a list or the rows of a table count as one.
        candidates: The most statements that are embedded for one question.
    """

    embeddings: Embeddings | None = Field(default=None, exclude=True)
    max_sentences: int = Field(default=3, ge=1)
    candidates: int = Field(default=6, ge=1)

    model_config = ConfigDict(arbitrary_types_allowed=True)

    @property
    def _llm_type(self) -> str:
        return MODEL_NAME

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {
            "model_name": MODEL_NAME,
            "max_sentences": self.max_sentences,
            "embeddings": type(self.embeddings).__name__ if self.embeddings else None,
        }

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        text = self._reply(messages, stop)
        message = AIMessage(content=text, response_metadata=_response_metadata(), usage_metadata=_usage(messages, text))
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in _chunks(messages, self._reply(messages, stop)):
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    def _reply(self, messages: Sequence[BaseMessage], stop: Sequence[str] | None = None) -> str:
        text = self._answer(messages)
        for mark in stop or ():
            text = text.split(mark, 1)[0] if mark else text
        return text

    def _answer(self, messages: Sequence[BaseMessage]) -> str:
        context = context_of("\n".join(str(m.text) for m in messages if isinstance(m, SystemMessage)))
        asked = _asked(messages)
        if context is None or not asked.strip():
            return decline()
        question = read(asked)
        if question.unanswerable:
            return decline()
        evidence = Evidence(question, entries(context))
        self._compare_meaning(evidence)
        return answer(evidence, self.max_sentences)

    def _compare_meaning(self, evidence: Evidence) -> None:
        """Give the strongest statements their cosine similarity to the question."""
        nearest = evidence.candidates(self.candidates)
        if self.embeddings is None or not nearest:
            return
        vectors = self.embeddings.embed_documents([evidence.in_place(statement) for statement in nearest])
        asked = self.embeddings.embed_query(evidence.question.text)
        evidence.compare(nearest, cosines(np.asarray(vectors, dtype=np.float32), asked).tolist())


def _asked(messages: Sequence[BaseMessage]) -> str:
    """Return the last question, with what it takes from the conversation before it."""
    said = [message for message in messages if isinstance(message, HumanMessage | AIMessage)]
    if not said or not isinstance(said[-1], HumanMessage):
        return next((message.text for message in reversed(said) if isinstance(message, HumanMessage)), "")
    return standalone(said[-1].text, turns_of(said[:-1]))


def _response_metadata() -> dict[str, str]:
    return {"model_name": MODEL_NAME, "finish_reason": "stop"}


def _usage(messages: Sequence[BaseMessage], text: str) -> UsageMetadata:
    """Return token counts estimated from the characters."""
    count = FourCharacters().count
    asked, told = sum(count(str(message.text)) for message in messages), max(1, count(text))
    return UsageMetadata(input_tokens=asked, output_tokens=told, total_tokens=asked + told)


def _words(text: str) -> list[str]:
    """Split after each space; joined again the words are the text."""
    return [word + " " for word in text.split(" ")[:-1]] + [text.rsplit(" ", 1)[-1]]


def _chunks(messages: Sequence[BaseMessage], text: str) -> Iterator[ChatGenerationChunk]:
    """Yield the text word by word; the last chunk, which is empty, carries usage and metadata."""
    for word in _words(text):
        yield ChatGenerationChunk(message=AIMessageChunk(content=word))
    last = AIMessageChunk(
        content="",
        response_metadata=_response_metadata(),
        usage_metadata=_usage(messages, text),
        chunk_position="last",
    )
    yield ChatGenerationChunk(message=last)
