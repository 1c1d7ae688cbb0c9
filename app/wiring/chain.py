"""Build the pipeline for a citation style and a model, its reformulation and its safety checks, from the settings."""

from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar, cast

from cachetools import LRUCache, cached
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig

import prompts
from app import hooks
from app.settings import Settings
from app.wiring.llm import condensing_model
from app.wiring.models import word_similarity
from chains.citations import CiteSources
from chains.clock import Clock
from chains.confidence import (
    WORDS,
    CalibratedConfidence,
    CompositeConfidence,
    ConfidenceStrategy,
    Thresholds,
    WithoutFactors,
    load_model,
    score_confidence,
    without_confidence,
)
from chains.context import FormatContext
from chains.errors import ConfigurationError
from chains.history import HistoryWindow
from chains.pipeline import Reformulation, build_chain
from chains.ports import TokenCounter, WordSimilarity
from chains.reformulation import Condense, Reformulate, Translate, verbatim
from chains.reformulation.reformulate import FindFor
from chains.reformulation.translate import Foreign, HeldWord
from chains.retrieval import HybridRetriever
from chains.retrieval.passages import passage
from chains.retrieval.retriever import Filters, filters_of
from chains.safety import CheckQuestion, Moderate, Reason, RiskThresholds, Safety, SystemPrompt, clean
from chains.safety.cleaning import Redact
from chains.safety.screening import suspicious_chunks
from chains.state import Answer, CitationStyle, Passage, Question, Redirect, Searching

if TYPE_CHECKING:
    from app.ledger.passages import Passages

HISTORY_TOKENS = 1000  # Of the conversation, in the prompt.
MOST_REMEMBERED = 128  # Of the searches that tell a new subject from a follow-up.


def reformulation_of(
    settings: Settings,
    similarity: WordSimilarity,
    clock: Clock,
    model: BaseChatModel | None = None,
    index: "Callable[[], Passages] | None" = None,
) -> Reformulation:
    """Return the reformulation that ENABLE_QUERY_REFORMULATION names, with the deployment's own prompts.

    Args:
        settings: the settings.
        similarity: compares words by meaning.
        clock: measures the language model's time.
        model: the chat model of the answers; a provider's model also rewrites questions.
        index: the documents; where they are elsewhere, no question is taken for one in another language, and the form
            alone says what a short question leans on.

    Raises:
        ConfigurationError: condense.txt or translate.txt in PROMPTS_PATH is invalid.
    """
    if settings.reformulation.mode == "off":
        return verbatim
    asked = condensing_model(model, settings, clock) if model else None
    is_foreign = Foreign(is_english=_is_english, is_held=_held_in(index)) if index else None
    rewriting = partial(_rewriting, asked, settings, clock) if asked else None
    return Reformulate(
        similarity,
        find=_find_in(index) if index else None,
        condense=rewriting(Condense, "condense") if rewriting else None,
        always=settings.reformulation.mode == "always",
        is_foreign=is_foreign,
        translate=rewriting(Translate, "translate", is_foreign=is_foreign) if rewriting and is_foreign else None,
        text=partial(prompts.load, folder=settings.prompt.folder),
        clean=partial(clean, redact=redact_of(settings)) if settings.safety.enabled else None,
        translations=prompts.translations(settings.prompt.folder),
    )


Asks = TypeVar("Asks", bound=Condense)


def _rewriting(
    asked: Runnable[Any, BaseMessage], settings: Settings, clock: Clock, kind: type[Asks], name: str, **options: Any
) -> Asks:
    folder = settings.prompt.folder
    try:
        return kind(
            asked, prompt=prompts.load(name, folder), timeout_s=settings.llm.rewriting_timeout_s, clock=clock, **options
        )
    except ConfigurationError as error:
        msg = f"{name}.txt in PROMPTS_PATH={folder}: {error}"
        raise ConfigurationError(msg) from error


def _is_english(word: str) -> bool:
    return word in word_similarity()


def _held_in(index: "Callable[[], Passages]") -> HeldWord:
    def is_held(word: str, config: RunnableConfig | None) -> bool:
        words, where = index(), filters_of(config).where()
        return bool(words.search(words.corrected(word, where, _is_english), 1, where))

    return is_held


def _find_in(index: "Callable[[], Passages]") -> FindFor:
    def key(passages: "Passages", query: str, filters: Filters) -> Any:
        return passages.version or object(), query, filters  # Without a version nothing can be remembered.

    # A conversation asks for its earlier questions again in each turn.
    @cached(LRUCache(MOST_REMEMBERED), key, Lock())
    def found(passages: "Passages", query: str, filters: Filters) -> Sequence[Passage]:
        search = HybridRetriever(store=passages, words=passages, is_word=_is_english)
        documents = search.find(query, **search.wanted(None, 0.0, filters), callbacks=None)
        return [passage(document) for document in documents]

    return lambda config, query: found(index(), query, filters_of(config))


def pipeline(
    settings: Settings,
    *,
    style: CitationStyle,
    retriever: BaseRetriever,
    model: BaseChatModel,
    model_id: str,
    scope: Runnable[Searching, Redirect | None] | None,
    tokens: TokenCounter,
    similarity: WordSimilarity,
    reformulation: Reformulation,
    clock: Clock,
    confidence: ConfidenceStrategy,
    moderate: Moderate | None = None,
    passage_characters: int | None = None,
    temperature: float | None = None,
    markers_suffice: bool = False,
) -> Runnable[Question, Answer]:
    """Return the pipeline, with the deployment's own prompts if there are any.

    Raises:
        ConfigurationError: a prompt in PROMPTS_PATH is invalid.
    """
    text = partial(prompts.load, folder=settings.prompt.folder)
    translations = prompts.translations(settings.prompt.folder)
    prompt = "system" if style == "title" else "system_numbered"
    system, reminder = text(prompt), text("reminder")
    # The second provider gets the same prompt.
    window = min(settings.llm.window(name) for name in (model_id, settings.llm.fallback_model) if name)
    history = HistoryWindow(HISTORY_TOKENS, tokens)
    try:
        return build_chain(
            retriever=retriever,
            model=model if temperature is None else cast("BaseChatModel", model.bind(temperature=temperature)),
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
                similarity=similarity,
                checked=settings.citations.stream_checked,
                markers_suffice=markers_suffice,
                fallback=text("ungrounded"),
                withheld=text("withheld"),
                decline=text("decline"),
                translations=translations,
            ),
            confidence=confidence,
            reformulation=reformulation,
            history=history,
            scope=scope,
            safety=safety_of(settings, system, moderate),
            passages_first=True,
            timeout_s=settings.request_timeout_s,
            clock=clock,
        )
    except ConfigurationError as error:
        msg = f"{prompt}.txt in PROMPTS_PATH={settings.prompt.folder}: {error}"
        raise ConfigurationError(msg) from error


def confidence_strategy(
    settings: Settings, held: Callable[[ConfidenceStrategy], ConfidenceStrategy] | None = None
) -> ConfidenceStrategy:
    """Return the confidence strategy; `held` may hold it to a certificate.

    Raises:
        ConfigurationError: CONFIDENCE_MODEL cannot be read.
    """
    if not settings.confidence.enabled:
        return without_confidence
    strategy: ConfidenceStrategy = hooks.load("confidence", settings.confidence.strategy)(settings)
    strategy = held(strategy) if held else strategy
    return strategy if settings.confidence.include_factors else WithoutFactors(strategy)


def calibrated(settings: Settings) -> ConfidenceStrategy:
    """Rate by the probability that the answer is right."""
    return CalibratedConfidence(load_model(settings.confidence.model, WORDS), _thresholds(settings))


def composite(settings: Settings) -> ConfidenceStrategy:
    """Rate by four factors."""
    return CompositeConfidence(_thresholds(settings), top_k=settings.retrieval.top_k)


def tiered(_settings: Settings) -> ConfidenceStrategy:
    """Rate by similarity."""
    return score_confidence


def _thresholds(settings: Settings) -> Thresholds:
    bounds = (settings.confidence.low_threshold, settings.confidence.medium_threshold)
    return Thresholds(*bounds, settings.confidence.high_threshold)


# The tokens that document fences and the guard of a suspicious question add to a prompt.
FENCE_TOKENS = 160
THRESHOLDS = RiskThresholds(guard=0.5, block=0.9)
NEVER_BLOCKED = RiskThresholds(guard=0.5, block=2)


def safe_text(settings: Settings, text: str) -> str:
    """Return a text without personal data that must not reach logs, traces or other services."""
    return clean(text, redact_of(settings)).text if settings.safety.enabled else text


def redact_of(settings: Settings) -> Redact | None:
    """Return what takes personal data out of a text; None where SAFETY_PII is off."""
    return None if settings.safety.pii == "off" else hooks.load("checks", "pii")


def safety_of(settings: Settings, system: str, moderate: Moderate | None = None) -> Safety | None:
    """Return the safety checks; None if SAFETY_ENABLED is off.

    Args:
        settings: the settings.
        system: the prompt that no answer may reveal.
        moderate: asks a moderator.
    """
    if not settings.safety.enabled:
        return None
    text = partial(prompts.load, folder=settings.prompt.folder)
    refusals: dict[Reason, str] = {"injection": text("blocked_injection"), "pii": text("blocked_pii")}
    spoken = (text(name) for name in ("decline", "no_results", "ungrounded"))
    scanner = scanner_of(settings)
    return Safety(
        question=CheckQuestion(
            refusals=refusals,
            block_pii=settings.safety.pii == "block",
            risk=scanner.question if scanner else None,
            thresholds=THRESHOLDS if settings.safety.injection == "block" else NEVER_BLOCKED,
        ),
        prompt=SystemPrompt(system, allowed=spoken),
        guard=text("guard"),
        is_suspicious=scanner.is_suspicious if scanner else None,
        moderate=moderate,
    )


def scanner_of(settings: Settings) -> Any:
    """Return the detector of attacks in questions and documents; None if SAFETY_INJECTION is off."""
    if not settings.safety.enabled or settings.safety.injection == "off":
        return None
    return hooks.load("checks", "injection")()


def suspicious_of(settings: Settings) -> Callable[[Sequence[str]], dict[int, str]] | None:
    """Return the detector of chunks that try to steer the model."""
    scanner = scanner_of(settings)
    return partial(suspicious_chunks, suspicious_words=scanner.suspicious_words) if scanner else None
