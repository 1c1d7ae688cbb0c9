"""Say a checked answer in the language of its question too; its citations are those of the English words."""

import re
from collections.abc import Callable
from typing import Any, Final

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from typing_extensions import TypedDict

import prompts
from chains.callbacks import Limited
from chains.clock import Clock
from chains.history import without_markers
from chains.state import Scored

# What a translation has to keep: links, addresses and figures. "1,000.5" is "1.000,5" in other languages.
_KEPT: Final = re.compile(r"\S*(?://|www\.|@|\]\()\S*\w|\d(?:[\d.,'\u00a0\u202f]*\d)?")
_SEPARATORS: Final = re.compile(r"[.,'\u00a0\u202f]")
MOST_LONGER = 3  # A translation is at most so many times as long; more of it is chatter.


class Translated(TypedDict, total=False):
    """The answer in the language of the question; without it where there is none."""

    answer_translation: str


class TranslateAnswer(Runnable[Scored, Translated]):
    """Asks `model` for the answer to a question that was put into English (`chains.reformulation.Translate`).

    Only what was answered and checked is translated. A translation that is English, has other figures or addresses than
    the answer, or is cut off is no translation; neither is one that comes too late.

    Args:
        model: writes the translation; a low temperature is the caller's to set.
        reads_english: says whether words may be English.
        prompt: the instructions; by default the packaged text.
        timeout_s: how long the model may take.
        clock: tells the time for that.
    """

    name = "translate_answer"

    def __init__(
        self,
        model: Runnable[LanguageModelInput, BaseMessage],
        *,
        reads_english: Callable[[str], bool],
        prompt: str | None = None,
        timeout_s: float = 10,
        clock: Clock | None = None,
    ) -> None:
        self._model = Limited(model, timeout_s, clock or Clock(), "translation_failed")
        self._reads_english = reads_english
        self._instructions = SystemMessage(prompts.load("translate_answer") if prompt is None else prompt)

    def invoke(self, input: Scored, config: RunnableConfig | None = None, **kwargs: Any) -> Translated:
        answer = _checked_answer(input)
        return self._usable(self._model.invoke(self._messages(input, answer), config), answer) if answer else {}

    async def ainvoke(self, input: Scored, config: RunnableConfig | None = None, **kwargs: Any) -> Translated:
        answer = _checked_answer(input)
        return self._usable(await self._model.ainvoke(self._messages(input, answer), config), answer) if answer else {}

    def _messages(self, state: Scored, answer: str) -> list[BaseMessage]:
        return [self._instructions, HumanMessage(f"Question: {state['question']}\nAnswer: {answer}\nTranslation:")]

    def _usable(self, reply: BaseMessage | None, answer: str) -> Translated:
        """Return the reply as a translation, or nothing."""
        if reply is None or reply.response_metadata.get("finish_reason") == "length":
            return {}
        text = reply.text.strip()
        is_chatter = len(text) > MOST_LONGER * len(answer) or without_markers(text) != text
        if not text or is_chatter or self._reads_english(text) or _kept(text) != _kept(answer):
            return {}
        return {"answer_translation": text}


def _checked_answer(state: Scored) -> str:
    """Return the words to translate, without markers; empty where there are none."""
    if state["outcome"] != "answered" or "translation" not in state:
        return ""
    return without_markers(state["answer"] if state["replacement"] is None else state["replacement"]).strip()


def _kept(text: str) -> set[str]:
    return {found if found[-1].isalpha() else _SEPARATORS.sub("", found) for found in _KEPT.findall(text)}
