"""What answers: the models, the retriever, the checks, and the sequence of stages that they make of the settings."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache, cached
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import merge_configs

import prompts
from app import hooks
from app.adapters.embeddings.cached import CachedBatchEmbeddings
from app.adapters.embeddings.onnx import half_of_the_cores
from app.ledger.passages import Passages
from app.ledger.work import LedgerCache
from app.observability.call_log import named
from app.ports import Moderation
from app.settings import Settings
from app.wiring.caches import Certification
from app.wiring.index import Index, scanner_of
from app.wiring.library import OFF, in_force
from app.wiring.llm import OFFLINE, chat_model, condensing_model, offline_model
from app.wiring.models import embedding_label, limits, retriever_of, word_similarity
from app.wiring.storage import ledger_of
from chains.answer_translation import TranslateAnswer
from chains.callbacks import Deadline
from chains.citations import CiteSources
from chains.confidence.calibrated import CalibratedConfidence, load_model
from chains.confidence.composite import CompositeConfidence
from chains.confidence.levels import (
    ConfidenceStrategy,
    Thresholds,
    WithoutFactors,
    score_confidence,
    without_confidence,
)
from chains.context import FormatContext
from chains.documents.naming import with_hosts
from chains.errors import ConfigurationError
from chains.history import HistoryWindow
from chains.logs import get_logger
from chains.pipeline import Reformulation, Sections, build_chain
from chains.question import check_question
from chains.reformulation import Condense, Reformulate, Translate, verbatim
from chains.reformulation.condense import Foreign
from chains.reformulation.reformulate import FindFor
from chains.retrieval.filters import Filters, filters_of
from chains.retrieval.passages import passage, retrieve
from chains.retrieval.retriever import ChunkRetriever, CurrentRetriever, with_metadata
from chains.retrieval.strategies import HybridRetriever
from chains.safety.cleaning import Redact, clean
from chains.safety.output_check import SystemPrompt
from chains.safety.screening import CheckQuestion, Moderate, RiskThresholds, Safety
from chains.scope import CurrentScope, ScopeGate, load_scope, parse_scope
from chains.stage import Stage, stage
from chains.state import Answer, CitationStyle, Passage, Question, Redirect, Retrieved, Searching

if TYPE_CHECKING:
    from app.adapters.retrieval import RemoteRetriever

MOST_REMEMBERED = 128  # Of the searches that tell a new subject from a follow-up.
HISTORY_TOKENS = 1000  # Of the conversation, in the prompt.
EXAMPLES_S = 30 * 86_400  # How long the vectors of a scope file's examples are kept.
TRANSLATION_S = 10  # How long an answer waits for its translation.
# What the service that POST /chat replaces gave its model.
CHAT_PASSAGE_CHARACTERS, CHAT_TEMPERATURE = 1700, 0.4

log = get_logger(__name__)


@contextmanager
def prompt_named(name: str, folder: Path | None) -> Iterator[None]:
    """Say in an error of the body which file of PROMPTS_PATH it is about."""
    try:
        yield
    except ConfigurationError as error:
        raise ConfigurationError(f"{name}.txt in PROMPTS_PATH={folder}: {error}") from error


def _is_english(word: str) -> bool:
    return word in word_similarity() or word.removesuffix("s") in word_similarity()


def _is_held(index: Callable[[], Passages], word: str, config: RunnableConfig | None) -> bool:
    words, where = index(), filters_of(config).where()
    return bool(words.search(words.corrected(word, where, _is_english), 1, where))


def _find_in(index: Callable[[], Passages]) -> FindFor:
    # A conversation asks for its earlier questions again in each turn. Without a version nothing can be remembered.
    @cached(LRUCache(MOST_REMEMBERED), lambda passages, *asked: (passages.version or object(), *asked), Lock())
    def found(passages: Passages, query: str, filters: Filters) -> Sequence[Passage]:
        search = HybridRetriever(store=passages, words=passages, is_word=_is_english)
        documents = search.find(query, **search.wanted(None, 0.0, filters), callbacks=None)
        return [passage(document) for document in documents]

    return lambda config, query: found(index(), query, filters_of(config))


def sections_of(settings: Settings, index: Callable[[], Passages]) -> Sections | None:
    def sections(state: Retrieved, config: RunnableConfig) -> list[Passage]:
        current, filters = index(), filters_of(config)
        places = [(one["metadata"]["doc_id"], one["metadata"]["chunk_index"]) for one in state["documents"]]
        near = [document for place in places for document in current.around(*place) if filters.allow(document.metadata)]
        return [passage(with_metadata(one, with_hosts(one.metadata, settings.link_hosts))) for one in near]

    return sections if settings.prompt.context == "section" else None


def confidence_strategy(
    settings: Settings, held: Callable[[ConfidenceStrategy], ConfidenceStrategy] | None = None
) -> ConfidenceStrategy:
    """Return the confidence strategy; `held` may hold it to a certificate.

    Raise ConfigurationError if CONFIDENCE_MODEL cannot be read.
    """
    if not settings.confidence.enabled:
        return without_confidence
    strategy: ConfidenceStrategy = hooks.load("confidence", settings.confidence.strategy)(settings)
    strategy = held(strategy) if held else strategy
    return strategy if settings.confidence.include_factors else WithoutFactors(strategy)


def calibrated(settings: Settings) -> ConfidenceStrategy:
    model = load_model(settings.confidence.model)
    return CalibratedConfidence(model, _thresholds(settings))


def composite(settings: Settings) -> ConfidenceStrategy:
    return CompositeConfidence(_thresholds(settings), top_k=settings.retrieval.top_k)


def tiered(_settings: Settings) -> ConfidenceStrategy:
    return score_confidence


def _thresholds(settings: Settings) -> Thresholds:
    own = settings.confidence
    return Thresholds(own.low_threshold, own.medium_threshold, own.high_threshold)


def scope_gate(
    settings: Settings, embeddings: Embeddings, index: Callable[[], Passages]
) -> Runnable[Searching, Redirect | None] | None:
    """Return the scope gate; None if it is off.

    It uses SCOPE_FILE, or else the scope files of the folders in the index. Raise ConfigurationError if SCOPE_FILE is
    not readable or invalid.
    """
    if settings.retrieval.scope_file == OFF:
        return None
    store = LedgerCache(ledger_of(settings), ttl_s=EXAMPLES_S)
    cached = CachedBatchEmbeddings(embeddings, store, model=embedding_label(settings))
    file = settings.retrieval.scope_file
    of_file = None if file is None else [ScopeGate(load_scope(Path(file)), cached)]

    @lru_cache(maxsize=1)
    def gates(contents: Passages) -> list[ScopeGate]:
        return [ScopeGate(parse_scope(text, root), cached) for root, text in in_force(contents).items()]

    def is_held(word: str, config: RunnableConfig | None) -> bool:
        return bool(index().search(word, 1, filters_of(config).where()))

    def current() -> Sequence[ScopeGate]:
        return gates(index()) if of_file is None else of_file

    return CurrentScope(current, is_held, half_of_the_cores("scope"))


THRESHOLDS = RiskThresholds(guard=0.5, block=0.9)
NEVER_BLOCKED = RiskThresholds(guard=0.5, block=2)


def safe_text(settings: Settings, text: str) -> str:
    """Return a text without personal data that must not reach logs, traces or other services."""
    return clean(text, redact_of(settings)).text if settings.safety.enabled else text


def redact_of(settings: Settings) -> Redact | None:
    """Return what takes personal data out of a text; None where SAFETY_PII is off."""
    return None if settings.safety.pii == "off" else hooks.load("checks", "pii")


def safety_of(settings: Settings, system: str, moderate: Moderate | None = None) -> Safety | None:
    """Return the safety checks, by which no answer reveals the prompt `system`; None if SAFETY_ENABLED is off."""
    if not settings.safety.enabled:
        return None
    text, scanner = partial(prompts.load, folder=settings.prompt.folder), scanner_of(settings)
    return Safety(
        question=CheckQuestion(
            refusals={"injection": text("blocked_injection"), "pii": text("blocked_pii")},
            block_pii=settings.safety.pii == "block",
            risk=scanner.question if scanner else None,
            thresholds=THRESHOLDS if settings.safety.injection == "block" else NEVER_BLOCKED,
        ),
        prompt=SystemPrompt(system, allowed=map(text, ("decline", "no_results", "ungrounded"))),
        guard=text("guard"),
        is_suspicious=scanner.is_suspicious if scanner else None,
        moderate=moderate,
    )


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
        if self.remote is not None:
            return self.remote
        index = self.index

        @lru_cache(maxsize=1)
        def over(passages: Passages) -> ChunkRetriever:
            return retriever_of(self.settings, store=passages, words=passages, model=self.model)

        first = over(index.current())
        options = {"executor": first.executor, "titles": index.library.compared, **limits(self.settings)}
        # A trace names the strategy.
        retriever = CurrentRetriever(index=index.current, over=over, name=first.get_name(), **options)
        return index.caches.retriever(retriever, index.stored.version)

    @cached_property
    def is_foreign(self) -> Foreign | None:
        """Return what tells a question in another language than the documents; None where these are elsewhere."""
        return None if self.remote else Foreign(is_english=_is_english, is_held=partial(_is_held, self.index.current))

    @cached_property
    def answer_translation(self) -> dict[str, Stage]:
        """Return the stage that says an answer in the language of its question, behind `confidence`; else none."""
        settings, clock = self.settings, self.index.clock
        timeout_s = max(TRANSLATION_S, settings.llm.rewriting_timeout_s)
        model = condensing_model(self.model(), clock, timeout_s=timeout_s, max_tokens=settings.llm.max_tokens)
        if settings.retrieval.reformulation == "off" or model is None or self.is_foreign is None:
            return {}
        prompt, english = prompts.load("translate_answer", settings.prompt.folder), self.is_foreign.reads_english
        translate = TranslateAnswer(model, reads_english=english, prompt=prompt, timeout_s=timeout_s, clock=clock)
        return {"confidence": stage("answer_translation", translated=translate, unpack=True)}

    @cached_property
    def reformulation(self) -> Reformulation:
        """Return the reformulation that ENABLE_QUERY_REFORMULATION names; it always uses LLM_MODEL.

        Where the documents are elsewhere, no question is taken for one in another language, and the form alone says
        what a short question leans on. Raise ConfigurationError if condense.txt or translate.txt in PROMPTS_PATH is
        invalid.
        """
        settings, clock, index = self.settings, self.index.clock, None if self.remote else self.index.current
        if settings.retrieval.reformulation == "off":
            return verbatim
        folder, timeout_s = settings.prompt.folder, settings.llm.rewriting_timeout_s
        text, options = partial(prompts.load, folder=folder), dict[str, Any](timeout_s=timeout_s, clock=clock)
        model, is_foreign = condensing_model(self.model(), clock, timeout_s=timeout_s), self.is_foreign
        condense, translate = None, None
        if model:
            with prompt_named("condense", folder):
                condense = Condense(model, prompt=text("condense"), **options)
        if model and is_foreign:
            with prompt_named("translate", folder):
                translate = Translate(model, prompt=text("translate"), is_foreign=is_foreign, **options)
        return Reformulate(
            word_similarity(),
            find=_find_in(index) if index else None,
            condense=condense,
            always=settings.retrieval.reformulation == "always",
            is_foreign=is_foreign,
            translate=translate,
            text=text,
            clean=partial(clean, redact=redact_of(settings)) if settings.safety.enabled else None,
            translations=prompts.translations(folder),
        )

    async def search(
        self, query: str, config: RunnableConfig, *, top_k: int, filters: dict[str, Any] | None = None
    ) -> list[Passage]:
        """Return the nearest passages that the config's audience may see, best first, without a threshold.

        Personal data is removed from the query, as for an answer. Raise QuestionError if the query is empty, too long,
        or no text; or the filters cannot be read, or name no field; RetrievalError if the documents cannot be searched;
        DeadlineError if it took longer than LLM_TIMEOUT_S and 30 seconds.
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

    def pipeline(self, model_id: str, *, chat: bool = False) -> Runnable[Question, Answer]:
        """Return the sequence of stages, with the deployment's own prompts if there are any.

        That of POST /chat cites by numbers, and a citation of it needs no words of its source; it is another chain than
        the one that is evaluated and certified. Raise ConfigurationError if a prompt in PROMPTS_PATH is invalid.
        """
        settings, index, tokens = self.settings, self.index, self.index.tokens
        style: CitationStyle = "numbered" if chat else settings.citations.style
        text = partial(prompts.load, folder=settings.prompt.folder)
        translations = prompts.translations(settings.prompt.folder)
        prompt = "system" if style == "title" else "system_numbered"
        system = text(prompt)
        model: Any = self.model(model_id)
        certified = partial(self.certification.held, same_chain=not chat) if self.certification else None
        reader = None  # Quotes the passages where the model has no answer that they support.
        if settings.llm.fallback and not chat and settings.llm.provider != OFFLINE:
            reader = partial(hooks.wing("offline:quoted_instead"), offline_model(settings, index.embeddings))
        with prompt_named(prompt, settings.prompt.folder):
            return build_chain(
                retriever=self.retriever,
                model=model.bind(temperature=CHAT_TEMPERATURE) if chat else model,
                sections=sections_of(settings, index.current),
                system=system,
                reminder=text("reminder"),
                parts=text("parts"),
                no_results=text("no_results"),
                unread=None if settings.llm.provider != OFFLINE or chat else text("unread"),
                translations=translations,
                context=FormatContext(
                    max_tokens=settings.prompt.context_tokens,
                    style=style,
                    tokens=tokens,
                    passage_characters=CHAT_PASSAGE_CHARACTERS if chat else None,
                ),
                citations=CiteSources(
                    style=style,
                    min_citations=settings.citations.least,
                    similarity=word_similarity(),
                    checked=settings.citations.stream_checked,
                    markers_suffice=chat,
                    fallback=text("ungrounded"),
                    withheld=text("withheld"),
                    decline=text("decline"),
                    translations=translations,
                    reader=reader,
                ),
                confidence=confidence_strategy(settings, certified),
                reformulation=self.reformulation,
                history=HistoryWindow(HISTORY_TOKENS, tokens),
                scope=self.scope,
                safety=safety_of(settings, system, self.moderation.step if self.moderation else None),
                stages={} if chat else self.answer_translation,
                passages_first=True,
                timeout_s=settings.request_timeout_s,
                clock=index.clock,
            )


def open_answerer(index: Index) -> Answerer:
    settings, clock = index.settings, index.clock
    remote = moderation = scope = certification = None
    if settings.retrieval.url is not None:
        from app.adapters.http_client import ServiceCalls
        from app.adapters.retrieval import KIND, RemoteRetriever

        calls = ServiceCalls(KIND, settings.retrieval.url, api_key=settings.retrieval.api_key, clock=clock)
        remote = RemoteRetriever(calls=calls, **limits(settings))
    else:
        certification = Certification(settings)
    if settings.safety.enabled and settings.moderation.provider != "off":
        moderation = hooks.wing("safety.moderator:moderation_of")(settings, clock)
    if remote is None or settings.retrieval.scope_file is not None:
        scope = scope_gate(settings, index.embeddings, index.current)
    return Answerer(index, remote, moderation, scope, certification)
