"""A chat model that needs no network: it quotes sentences of the context, with their citations."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel, LangSmithParams
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import ConfigDict, Field, PrivateAttr, SkipValidation

import prompts
from app.wings.offline.answer import NOTHING, OfflineAnswer, answer, together
from app.wings.offline.evidence import FEATURES, Evidence
from app.wings.offline.overview import overview
from app.wings.offline.passages import Entry, context_of, entries
from app.wings.offline.question import in_words_of, read
from app.wings.offline.ranker import packaged_ranker
from chains.generation.generate import facts_of
from chains.history import turns_of
from chains.metadata import ASKED, MATCH, MISSING, NEAREST, PARTS, SCORES, SEARCHED, UNSAID, UNSURE
from chains.ports import FourCharacters, WordSimilarity
from chains.reformulation import standalone
from chains.reformulation.splitting import asking_part
from chains.retrieval.strategies import cosines
from chains.state import Generated

MODEL_NAME = "offline-extractive"
MOST_REMEMBERED = 8192  # Vectors of statements, of 1.5 kB each, that are kept in memory.


class OfflineChatModel(BaseChatModel):
    """Answer by quoting the best evidence of the context in the system message, each quote with its citation.

    The system message holds the context between the lines `<context>` and `</context>`, entries best first, each
    below its header `[Title > Section]`. Where no evidence addresses the question, the answer is a sentence that
    declines. The reply's `response_metadata` tells the probability that the best evidence answers the question; the
    question's `additional_kwargs` may tell the similarities of the entries.

    Attributes:
        embeddings: Adds nearness in meaning to the lexical evidence; without it the model judges by words alone.
        similarity: Lets near words count as well; without it only words of the same stem do.
        max_sentences: The most statements quoted; a list or the rows of a table count as one.
        prompts_folder: Holds the deployment's own texts for where nothing is quoted.
    """

    embeddings: Embeddings | None = Field(default=None, exclude=True)
    similarity: SkipValidation[WordSimilarity | None] = Field(default=None, exclude=True)
    max_sentences: int = Field(default=3, ge=1)
    prompts_folder: Path | None = Field(default=None, exclude=True)

    _vectors: dict[str, Any] = PrivateAttr(default_factory=dict)  # Of the statements that were compared before.

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

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        return LangSmithParams(**{**super()._get_ls_params(stop, **kwargs), "ls_model_name": MODEL_NAME})

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        reply = self.reply(messages, stop)
        message = AIMessage(
            content=reply.text, response_metadata=_metadata(reply), usage_metadata=_usage(messages, reply.text)
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in _chunks(messages, self.reply(messages, stop)):
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    def reply(self, messages: Sequence[BaseMessage], stop: Sequence[str] | None = None) -> OfflineAnswer:
        """Return the answer to the question of a prompt, from its context."""
        context = context_of("\n".join(str(m.text) for m in messages if isinstance(m, SystemMessage)))
        shown, parts = entries(context or ""), _fact(messages, PARTS)
        if parts:
            replies: list[tuple[str, OfflineAnswer]] = []
            for part in parts:
                asked, found = part["question"], [shown[place] for place in part["places"] if place < len(shown)]
                replies.append((asked, self._quoted(part["query"], found, part["scores"], own=asked, said=asked)))
            reply = together(replies, self.prompts_folder)
        else:
            asked, said = _asked(messages)
            scores, own = _fact(messages, SCORES), asking_part(asked)
            reply = self._quoted(asked, shown, scores, said=said)
            if own and not reply.given:  # Then its question, with the statements before it as what it is asked on.
                retried = self._quoted(asked, shown, scores, own=own)
                reply = retried if retried.given or retried.probability > reply.probability else reply
        text = reply.worded(self.prompts_folder)
        for mark in filter(None, stop or ()):
            text = text.split(mark, 1)[0]
        return reply._replace(text=text)

    def _quoted(
        self, asked: str, shown: Sequence[Entry], scores: Sequence[float | None], own: str = "", said: str = ""
    ) -> OfflineAnswer:
        """Answer a question; what is not in the user's `own` words, where they are given, is what it is asked on.

        Where it leans on the questions before it, `said` is what the user typed.
        """
        if self.similarity is not None:
            texts = [f"{one.header} {one.text}" for one in shown]
            right = {words: in_words_of(texts, words, self.similarity) for words in {asked, own, said}}
            asked, own, said = right[asked], right[own], right[said]
        if whole := overview(own or asked, shown):
            return whole
        question = read(asked, own, said)
        if not shown or not question.terms or question.unanswerable:
            return NOTHING
        evidence = Evidence(question, shown, self.similarity, scores)
        self._compare_meaning(evidence)
        return answer(evidence, packaged_ranker(FEATURES), self.max_sentences)

    def _compare_meaning(self, evidence: Evidence) -> None:
        """Keep the most promising statements, with their cosine similarity to the question."""
        rows = evidence.first_look()
        if self.embeddings is None or not rows:
            evidence.keep(rows)
            return
        texts = [evidence.in_place(evidence.statements[row]) for row in rows]
        if len(self._vectors) > MOST_REMEMBERED:
            self._vectors = {}  # Not cleared: another thread may read it.
        known = self._vectors
        vectors = {text: known[text] for text in texts if text in known}
        if missing := [text for text in dict.fromkeys(texts) if text not in vectors]:
            made = np.asarray(self.embeddings.embed_documents(missing), dtype=np.float32)
            vectors |= dict(zip(missing, made, strict=True))
            known.update(vectors)
        asked = self.embeddings.embed_query(evidence.question.text)
        evidence.keep(rows, cosines(np.array([vectors[text] for text in texts]), asked).tolist())


def quoted_instead(model: OfflineChatModel, state: Generated) -> AIMessage | None:
    """Return what is quoted where a language model gave no answer that the passages support, below a line that says so.

    None where it is not sure that the quotations answer the question.
    """
    facts = facts_of(state)
    context = SystemMessage(f"<context>\n{state['context']['text']}\n</context>")
    reply = model.reply([context, HumanMessage(facts[ASKED], additional_kwargs=facts)])
    if not reply.given:
        return None
    line = prompts.load("quoted" if reply.whole else "unsure", model.prompts_folder)
    return AIMessage(f"{line}\n\n{reply.text}", response_metadata={MATCH: reply.probability, UNSURE: not reply.whole})


def _asked(messages: Sequence[BaseMessage]) -> tuple[str, str]:
    """Return the query that was searched for, else the last question with what it takes from those before; as typed."""
    said = [message for message in messages if isinstance(message, HumanMessage | AIMessage)]
    last = next((place for place in range(len(said) - 1, -1, -1) if isinstance(said[place], HumanMessage)), None)
    if last is None:
        return "", ""
    extra = said[last].additional_kwargs
    typed = extra.get(ASKED) or said[last].text
    return extra.get(SEARCHED) or standalone(typed, turns_of(said[:last])), typed


def _fact(messages: Sequence[BaseMessage], fact: str) -> Sequence[Any]:
    """Return a fact that the chain attached to the question: the similarities of the entries, or its parts."""
    asked = (message for message in reversed(messages) if isinstance(message, HumanMessage))
    return next((message.additional_kwargs[fact] for message in asked if fact in message.additional_kwargs), ())


def _metadata(reply: OfflineAnswer) -> dict[str, Any]:
    """Return what the message tells beside its text."""
    own, *parts = (
        {MATCH: round(one.probability, 4), UNSURE: one.unsure, NEAREST: one.place}
        | {MISSING: list(one.missing), UNSAID: list(one.unsaid)}
        for one in (reply, *reply.parts)
    )
    return {"model_name": MODEL_NAME, "finish_reason": "stop", **own, **({PARTS: parts} if parts else {})}


def _usage(messages: Sequence[BaseMessage], text: str) -> UsageMetadata:
    """Return token counts estimated from the characters."""
    count = FourCharacters().count
    asked, written = sum(count(str(message.text)) for message in messages), max(1, count(text))
    return UsageMetadata(input_tokens=asked, output_tokens=written, total_tokens=asked + written)


def _chunks(messages: Sequence[BaseMessage], reply: OfflineAnswer) -> Iterator[ChatGenerationChunk]:
    """Yield the text word by word; the last chunk, which is empty, carries usage and metadata."""
    for word in re.split(r"(?<= )", reply.text):
        yield ChatGenerationChunk(message=AIMessageChunk(content=word))
    last = AIMessageChunk(
        content="",
        response_metadata=_metadata(reply),
        usage_metadata=_usage(messages, reply.text),
        chunk_position="last",
    )
    yield ChatGenerationChunk(message=last)
