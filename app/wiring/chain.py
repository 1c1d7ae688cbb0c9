"""Build the reformulation, the confidence and the safety checks of a chain from the settings."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache, cached
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig

import prompts
from app import hooks
from app.settings import Settings
from app.wiring.llm import condensing_model
from app.wiring.models import word_similarity
from chains import confidence
from chains.clock import Clock
from chains.documents.source_urls import with_hosts
from chains.errors import ConfigurationError
from chains.pipeline import Reformulation, Sections
from chains.reformulation import Condense, Reformulate, Translate, verbatim
from chains.reformulation.condense import Foreign, HeldWord
from chains.reformulation.reformulate import FindFor
from chains.retrieval import HybridRetriever
from chains.retrieval.filters import Filters, filters_of
from chains.retrieval.passages import passage
from chains.retrieval.retriever import with_metadata
from chains.safety import CheckQuestion, Moderate, RiskThresholds, Safety, SystemPrompt, clean
from chains.safety.cleaning import Redact
from chains.safety.screening import suspicious_chunks
from chains.state import Passage, Retrieved

if TYPE_CHECKING:
    from app.ledger.passages import Passages

MOST_REMEMBERED = 128  # Of the searches that tell a new subject from a follow-up.


def reformulation_of(
    settings: Settings, clock: Clock, model: BaseChatModel, index: "Callable[[], Passages] | None"
) -> Reformulation:
    """Return the reformulation that ENABLE_QUERY_REFORMULATION names, with the deployment's own prompts.

    Args:
        settings: the settings.
        clock: measures the language model's time.
        model: the chat model of the answers; a provider's model also rewrites questions.
        index: the documents; where they are elsewhere, no question is taken for one in another language, and the form
            alone says what a short question leans on.

    Raises:
        ConfigurationError: condense.txt or translate.txt in PROMPTS_PATH is invalid.
    """
    if settings.retrieval.reformulation == "off":
        return verbatim
    asked, folder = condensing_model(model, settings, clock), settings.prompt.folder
    text, options = partial(prompts.load, folder=folder), {"timeout_s": settings.llm.rewriting_timeout_s}
    is_foreign = Foreign(is_english=_is_english, is_held=_held_in(index)) if index else None
    condense, translate = None, None
    if asked:
        with prompt_named("condense", folder):
            condense = Condense(asked, prompt=text("condense"), clock=clock, **options)
    if asked and is_foreign:
        with prompt_named("translate", folder):
            translate = Translate(asked, prompt=text("translate"), clock=clock, is_foreign=is_foreign, **options)
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


@contextmanager
def prompt_named(name: str, folder: Path | None) -> Iterator[None]:
    """Say in an error of the body which file of PROMPTS_PATH it is about."""
    try:
        yield
    except ConfigurationError as error:
        msg = f"{name}.txt in PROMPTS_PATH={folder}: {error}"
        raise ConfigurationError(msg) from error


def _is_english(word: str) -> bool:
    return word in word_similarity() or word.removesuffix("s") in word_similarity()


def _held_in(index: "Callable[[], Passages]") -> HeldWord:
    def is_held(word: str, config: RunnableConfig | None) -> bool:
        words, where = index(), filters_of(config).where()
        return bool(words.search(words.corrected(word, where, _is_english), 1, where))

    return is_held


def _find_in(index: "Callable[[], Passages]") -> FindFor:
    # A conversation asks for its earlier questions again in each turn. Without a version nothing can be remembered.
    @cached(LRUCache(MOST_REMEMBERED), lambda passages, *asked: (passages.version or object(), *asked), Lock())
    def found(passages: "Passages", query: str, filters: Filters) -> Sequence[Passage]:
        search = HybridRetriever(store=passages, words=passages, is_word=_is_english)
        documents = search.find(query, **search.wanted(None, 0.0, filters), callbacks=None)
        return [passage(document) for document in documents]

    return lambda config, query: found(index(), query, filters_of(config))


def sections_of(settings: Settings, index: "Callable[[], Passages]") -> Sections | None:
    """Return what finds the other passages of sections, where CONTEXT is `section`."""

    def sections(state: Retrieved, config: RunnableConfig) -> list[Passage]:
        current, filters = index(), filters_of(config)
        places = [(one["metadata"]["doc_id"], one["metadata"]["chunk_index"]) for one in state["documents"]]
        near = [document for place in places for document in current.around(*place) if filters.allow(document.metadata)]
        return [passage(with_metadata(one, with_hosts(one.metadata, settings.link_hosts))) for one in near]

    return sections if settings.prompt.context == "section" else None


def confidence_strategy(
    settings: Settings, held: Callable[[confidence.ConfidenceStrategy], confidence.ConfidenceStrategy] | None = None
) -> confidence.ConfidenceStrategy:
    """Return the confidence strategy; `held` may hold it to a certificate.

    Raises:
        ConfigurationError: CONFIDENCE_MODEL cannot be read.
    """
    if not settings.confidence.enabled:
        return confidence.without_confidence
    strategy: confidence.ConfidenceStrategy = hooks.load("confidence", settings.confidence.strategy)(settings)
    strategy = held(strategy) if held else strategy
    return strategy if settings.confidence.include_factors else confidence.WithoutFactors(strategy)


def calibrated(settings: Settings) -> confidence.ConfidenceStrategy:
    """Rate by the probability that the answer is right."""
    model = confidence.load_model(settings.confidence.model, confidence.WORDS)
    return confidence.CalibratedConfidence(model, _thresholds(settings))


def composite(settings: Settings) -> confidence.ConfidenceStrategy:
    """Rate by four factors."""
    return confidence.CompositeConfidence(_thresholds(settings), top_k=settings.retrieval.top_k)


def tiered(_settings: Settings) -> confidence.ConfidenceStrategy:
    """Rate by similarity."""
    return confidence.score_confidence


def _thresholds(settings: Settings) -> confidence.Thresholds:
    own = settings.confidence
    return confidence.Thresholds(own.low_threshold, own.medium_threshold, own.high_threshold)


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


def scanner_of(settings: Settings) -> Any:
    """Return the detector of attacks in questions and documents; None if SAFETY_INJECTION is off."""
    if not settings.safety.enabled or settings.safety.injection == "off":
        return None
    return hooks.load("checks", "injection")()


def suspicious_of(settings: Settings) -> Callable[[Sequence[str]], dict[int, str]] | None:
    """Return the detector of chunks that try to steer the model."""
    scanner = scanner_of(settings)
    return partial(suspicious_chunks, suspicious_words=scanner.suspicious_words) if scanner else None
