"""What answers: the models, the retriever, the checks, and the sequence of stages that they make."""

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import merge_configs

import prompts
from app import hooks
from app.observability.call_log import named
from app.ports import Moderation
from app.settings import Settings
from app.wiring.certification import Certification
from app.wiring.chain import confidence_strategy, prompt_named, reformulation_of, safe_text, safety_of, sections_of
from app.wiring.index import Index
from app.wiring.llm import chat_model
from app.wiring.models import current_retriever, remote_retriever, word_similarity
from app.wiring.scope import scope_gate
from chains.callbacks import Deadline
from chains.citations import CiteSources
from chains.context import FormatContext
from chains.history import HistoryWindow
from chains.logs import get_logger
from chains.pipeline import Reformulation, build_chain
from chains.question import check_question
from chains.retrieval import ChunkRetriever, retrieve
from chains.state import Answer, CitationStyle, Passage, Question, Redirect, Searching

if TYPE_CHECKING:
    from app.adapters.retrieval import RemoteRetriever

HISTORY_TOKENS = 1000  # Of the conversation, in the prompt.
FENCE_TOKENS = 160  # That document fences and the guard of a suspicious question add to a prompt.

log = get_logger(__name__)


@dataclass(frozen=True)
class Answerer:
    """Finds passages and answers from them.

    Attributes:
        remote: The retriever for RETRIEVAL_URL; None if the local index is searched.
        models: The chat models by name, as they were made.
        certification: What holds the high level of confidence to a certificate; None where the documents are elsewhere.
    """

    index: Index
    remote: "RemoteRetriever | None" = None
    moderation: Moderation | None = None
    scope: Runnable[Searching, Redirect | None] | None = None
    certification: Certification | None = None
    models: dict[str, BaseChatModel] = field(default_factory=dict)

    @property
    def settings(self) -> Settings:
        return self.index.settings

    def model(self, name: str | None = None) -> BaseChatModel:
        """Return a chat model, by default of LLM_MODEL: the configured providers, then the offline answerer."""
        index, name = self.index, name or self.settings.llm.model
        if index.parts.model is not None:
            return index.parts.model
        if name not in self.models:
            settings = self.settings.replace(llm_model=name)
            self.models[name] = chat_model(settings, index.embeddings, clock=index.clock, tokens=index.tokens)
        return self.models[name]

    @cached_property
    def retriever(self) -> ChunkRetriever:
        """Return the retriever: RETRIEVAL_URL, or RETRIEVER_TYPE over the current index."""
        if self.remote is not None:
            return self.remote
        titles = self.index.library.compared
        retriever = current_retriever(self.settings, self.index.current, self.model, titles=titles)
        return self.index.caches.retriever(retriever, self.index.stored.version)

    @cached_property
    def reformulation(self) -> Reformulation:
        """Return the reformulation of follow-ups; it always uses LLM_MODEL."""
        index = None if self.remote is not None else self.index.current
        return reformulation_of(self.settings, self.index.clock, self.model(), index)

    async def search(
        self, query: str, config: RunnableConfig, *, top_k: int, filters: dict[str, Any] | None = None
    ) -> list[Passage]:
        """Return the nearest passages that the config's audience may see, best first, without a threshold.

        Personal data is removed from the query, as for an answer.

        Raises:
            QuestionError: the query is empty, too long, or no text; or the filters cannot be read, or name no field.
            RetrievalError: the documents cannot be searched.
            DeadlineError: it took longer than LLM_TIMEOUT_S and 30 seconds.
        """
        settings, clock = self.settings, self.index.clock
        question = Searching(question=safe_text(settings, check_question(query)), top_k=top_k, threshold=0.0)
        if filters:
            question["filters"] = filters
        started, deadline = clock.now(), Deadline(settings.request_timeout_s, clock)
        passages = await retrieve(self.retriever).ainvoke(question, merge_configs(config, {"callbacks": [deadline]}))
        name = named(question["question"], plain=settings.logs.questions)
        log.info("search", question=name, passages=len(passages), seconds=round(clock.now() - started, 4))
        return passages

    def pipeline(
        self,
        style: CitationStyle,
        model_id: str,
        *,
        passage_characters: int | None = None,
        temperature: float | None = None,
        markers_suffice: bool = False,
        certified: bool = True,
    ) -> Runnable[Question, Answer]:
        """Return the sequence of stages, with the deployment's own prompts if there are any.

        Args:
            style: how answers cite.
            model_id: the chat model.
            passage_characters: the most of a passage in the prompt.
            temperature: the sampling temperature, where it is not LLM_TEMPERATURE.
            markers_suffice: whether a citation needs no words of its source.
            certified: whether it is the chain that a certificate is made of.

        Raises:
            ConfigurationError: a prompt in PROMPTS_PATH is invalid.
        """
        settings, index, tokens = self.settings, self.index, self.index.tokens
        text = partial(prompts.load, folder=settings.prompt.folder)
        translations = prompts.translations(settings.prompt.folder)
        prompt = "system" if style == "title" else "system_numbered"
        system, reminder = text(prompt), text("reminder")
        # The second provider gets the same prompt.
        window = min(settings.llm.window(name) for name in (model_id, settings.llm.fallback_model) if name)
        history = HistoryWindow(HISTORY_TOKENS, tokens)
        model = self.model(model_id)
        held = partial(self.certification.held, same_chain=certified) if self.certification else None
        with prompt_named(prompt, settings.prompt.folder):
            return build_chain(
                retriever=self.retriever,
                model=model if temperature is None else cast("BaseChatModel", model.bind(temperature=temperature)),
                sections=sections_of(settings, index.current),
                system=system,
                reminder=reminder,
                parts=text("parts"),
                no_results=text("no_results"),
                unread=None if settings.provider != "offline" or markers_suffice else text("unread"),
                translations=translations,
                context=FormatContext(
                    max_tokens=settings.prompt.context_tokens,
                    style=style,
                    window=window,
                    reserved=tokens.count(system) + tokens.count(reminder) + settings.llm.max_tokens + FENCE_TOKENS,
                    tokens=tokens,
                    passage_characters=passage_characters,
                    history=history,
                ),
                citations=CiteSources(
                    style=style,
                    min_citations=settings.citations.least,
                    similarity=word_similarity(),
                    checked=settings.citations.stream_checked,
                    markers_suffice=markers_suffice,
                    fallback=text("ungrounded"),
                    withheld=text("withheld"),
                    decline=text("decline"),
                    translations=translations,
                ),
                confidence=confidence_strategy(settings, held),
                reformulation=self.reformulation,
                history=history,
                scope=self.scope,
                safety=safety_of(settings, system, self.moderation.step if self.moderation else None),
                passages_first=True,
                timeout_s=settings.request_timeout_s,
                clock=index.clock,
            )


def open_answerer(index: Index) -> Answerer:
    """Return what answers from the index, or from the service of RETRIEVAL_URL."""
    settings, clock = index.settings, index.clock
    remote = moderation = scope = certification = None
    if settings.retrieval.url is not None:
        remote = remote_retriever(settings, clock)
    else:
        certification = Certification(settings, index.stored.version)
    if settings.safety.enabled and settings.moderation.provider != "off":
        moderation = hooks.wing("safety.moderator:moderation_of")(settings, clock)
    if remote is None or settings.scope.file is not None:
        scope = scope_gate(settings, index.embeddings, index.current)
    return Answerer(index, remote, moderation, scope, certification)
