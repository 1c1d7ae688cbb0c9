"""Ask a language model to make a follow-up stand alone, or to put a question into English, and check its reply."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import BaseMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import run_in_executor

import prompts
from chains.callbacks import Limited
from chains.clock import Clock
from chains.errors import ConfigurationError
from chains.history import Turn, without_markers
from chains.reformulation.terms import terms
from chains.text.letters import escape_tag, one_line
from chains.text.tokens import FEWEST_WORDS, OTHER_SCRIPT
from chains.text.words import plain_words

# What the model is shown of the conversation; older turns, and what comes late in a long answer, say little.
MOST_TURNS = 8
TURN_CHARACTERS = 600
# A longer reply is no question, but an answer.
LONGEST_REPLY = 300
# A word this near to one that was said is that word without its typing error.
NEAR = 0.75


class Condense:
    """Asks `model` once; after any failure the caller keeps the question it has.

    Args:
        model: writes the question; a low temperature and few tokens are the caller's to set.
        prompt: the instructions, a template with `{conversation}`; by default the packaged text.
        timeout_s: how long the model may take.
        clock: tells the time for that.

    Raises:
        ConfigurationError: the prompt has no `{conversation}`, or is not a valid template.
    """

    _asked = "{question}"  # The user's message.

    def __init__(
        self,
        model: Runnable[LanguageModelInput, BaseMessage],
        *,
        prompt: str | None = None,
        timeout_s: float = 3,
        clock: Clock | None = None,
    ) -> None:
        self._model = Limited(model, timeout_s, clock or Clock(), "reformulation_failed")
        instructions = prompts.load("condense") if prompt is None else prompt
        try:
            self._prompt = ChatPromptTemplate([("system", instructions), ("human", self._asked)])
        except ValueError as error:
            msg = f"the prompt is not a valid template ({error}); write braces that are text as {{{{ and }}}}"
            raise ConfigurationError(msg) from error
        if set(self._prompt.input_variables) != {"conversation", "question"}:
            raise ConfigurationError("the prompt needs {conversation} and no other variable")

    def invoke(self, question: str, turns: Sequence[Turn], config: RunnableConfig | None = None) -> str | None:
        """Return the question that stands alone; None where the model gave none in time."""
        reply = self._model.invoke(self._messages(question, turns), config)
        return self.usable(reply.text, question, turns) if reply else None

    async def ainvoke(self, question: str, turns: Sequence[Turn], config: RunnableConfig | None = None) -> str | None:
        reply = await self._model.ainvoke(self._messages(question, turns), config)
        return self.usable(reply.text, question, turns) if reply else None

    def _messages(self, question: str, turns: Sequence[Turn]) -> list[BaseMessage]:
        said = "\n".join(f"{turn.role}: {_shown(turn)}" for turn in turns[-MOST_TURNS:])
        return self._prompt.format_messages(conversation=said, question=question)

    def usable(self, reply: str, question: str, turns: Sequence[Turn]) -> str | None:
        """Return the reply as a question; None unless some term was said, with a slip of the pen or as initials."""
        text = question_in(reply)
        said = " ".join([*(turn.text for turn in turns), question])
        known, words = {term.key for term in terms(said)}, plain_words(said)
        initials = "".join(word[0] for word in plain_words(text or ""))
        is_about = any(len(word) > 1 and word in initials for word in words) or any(
            term.key in known or get_close_matches(term.text.lower(), words, 1, NEAR) for term in terms(text or "")
        )
        return text if is_about else None


def question_in(reply: str) -> str | None:
    """Return the reply without blanks and quotation marks; None where it reads like an answer, or is empty."""
    text = reply.strip().strip("\"'").strip()
    # An answer has several lines, or markers.
    is_answer = len(text) > LONGEST_REPLY or "\n" in text or without_markers(text) != text
    return None if is_answer else text or None


def _shown(turn: Turn) -> str:
    text = without_markers(turn.text) if turn.role == "assistant" else turn.text
    return escape_tag(one_line(text[:TURN_CHARACTERS]), "conversation")


# A question is in a language where such a part of its words are. Of the 808 English questions of `benchmarks.ways` none
# is taken for another language, of the 60 in Indonesian, Malay, German and Chinese two for English.
KNOWN = 0.6


HeldWord = Callable[[str, RunnableConfig | None], bool]
"""Says whether a document holds a word that the asker may see; the question's config may keep documents from it."""


@dataclass(kw_only=True)
class Foreign:
    """Says whether a question is in another language than English and the documents, by its words.

    Args:
        is_english: whether a word, in lower case, is one of English.
        is_held: whether a document that the asker may see holds it.
    """

    is_english: Callable[[str], bool]
    is_held: HeldWord

    def __call__(self, question: str, config: RunnableConfig | None = None) -> bool:
        """Return whether it is; fewer than three words may be names."""
        if self.reads_english(question):
            return False
        words = _words(question)
        return sum(self.is_held(word, config) for word in words) < KNOWN * len(words)

    async def acall(self, question: str, config: RunnableConfig | None = None) -> bool:
        return not self.reads_english(question) and await run_in_executor(config, self, question, config)

    def reads_english(self, question: str) -> bool:
        """Return whether it may be English."""
        words = _words(question)
        few = len(words) < FEWEST_WORDS and not OTHER_SCRIPT.search(question)
        return few or sum(map(self.is_english, words)) >= KNOWN * len(words)


class Translate(Condense):
    """Asks `model` for a question in English.

    Args:
        model: writes the question; a low temperature and few tokens are the caller's to set.
        is_foreign: rejects a reply that is still in the other language.
        prompt: the instructions, a template with `{conversation}`; by default the packaged text.
        options: those of `Condense`.
    """

    _asked = "Translate into English, and reply with nothing else: {question}"

    def __init__(
        self,
        model: Runnable[LanguageModelInput, BaseMessage],
        *,
        is_foreign: Foreign,
        prompt: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(model, prompt=prompts.load("translate") if prompt is None else prompt, **options)
        self._is_foreign = is_foreign

    def usable(self, reply: str, question: str, turns: Sequence[Turn]) -> str | None:
        """Return the reply as a question; None where it is not in English."""
        text = question_in(reply)
        return text if text and self._is_foreign.reads_english(text) else None


def _words(question: str) -> list[str]:
    return [word for word in plain_words(question) if word.isalpha()]
