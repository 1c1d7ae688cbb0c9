"""Build the reformulation of follow-up questions."""

from functools import partial

from langchain_core.language_models import BaseChatModel

import prompts
from app.settings import Settings
from app.wiring.llm import condensing_model
from chains.clock import Clock
from chains.errors import ConfigurationError
from chains.pipeline import Reformulation
from chains.ports import WordSimilarity
from chains.reformulation import Condense, Reformulate, verbatim


def reformulation_of(
    settings: Settings, similarity: WordSimilarity, clock: Clock, model: BaseChatModel | None = None
) -> Reformulation:
    """Return the reformulation that ENABLE_QUERY_REFORMULATION names, with the deployment's own prompt if there is one.

    Args:
        settings: the settings.
        similarity: compares words by meaning.
        clock: measures the language model's time.
        model: the chat model of the answers; a provider's model also rewrites questions.

    Raises:
        ConfigurationError: condense.txt in PROMPTS_PATH is invalid.
    """
    if settings.reformulation.mode == "off":
        return verbatim
    text = partial(prompts.load, folder=settings.prompt.folder)
    return Reformulate(
        similarity,
        condense=_condense(settings, model, clock) if model else None,
        always=settings.reformulation.mode == "always",
        small_talk=text("small_talk"),
        question_back=text("question_back"),
        translations=prompts.translations(settings.prompt.folder),
    )


def _condense(settings: Settings, model: BaseChatModel, clock: Clock) -> Condense | None:
    asked = condensing_model(model, settings, clock)
    if asked is None:
        return None
    prompt = prompts.load("condense", settings.prompt.folder)
    try:
        return Condense(asked, prompt=prompt, timeout_s=settings.reformulation.timeout_s, clock=clock)
    except ConfigurationError as error:
        msg = f"condense.txt in PROMPTS_PATH={settings.prompt.folder}: {error}"
        raise ConfigurationError(msg) from error
