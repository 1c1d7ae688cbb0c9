"""Compute the search query of a question, or the reply to one that is not searched for."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import run_in_executor

import prompts
from chains.history import Turn, turns_of
from chains.ports import Redacted, WordSimilarity
from chains.question import QUESTION_MAX_CHARACTERS, question_of
from chains.reformulation.condense import Condense, Foreign, Translate
from chains.reformulation.splitting import Part, split_questions
from chains.reformulation.standalone import completed, first_pronoun, has_gap, lacks_subject, leaning, standalone
from chains.reformulation.terms import small_talk
from chains.state import SMALL_TALK, UNDERSPECIFIED, AskedPart, Passage, Question, Redirect, Reformulated, is_blocked
from prompts import Translations, translated

FindFor = Callable[[RunnableConfig | None, str], Sequence[Passage]]
"""Returns the passages for a query that the asker of a call may see, best first."""


@dataclass(eq=False, repr=False)
class Reformulate(Runnable[Question, Reformulated]):
    """Compute the search query of a state; small talk and questions without a subject get a reply instead.

    A message with several questions becomes parts that are searched for one by one; no language model is asked then. A
    question in a language that neither English nor the documents have the words of is first put into English, and then
    read as if it had been asked so.

    Args:
        similarity: compares words by meaning, to find what a new name replaces; None compares their form only.
        find: searches for both readings of a short question, alone and with what it may take from the conversation;
            without it the form alone decides.
        condense: asks a language model where there is a conversation; None asks none.
        always: asks it for every question.
        is_foreign: says whether a question is in another language than English and the documents; None: none is.
        translate: puts such a question into English; None translates none.
        clean: takes personal data out of the translation, as it was taken out of the question.
        text: returns a reply by its name: those of small talk, and `question_back` with `{missing}` for the word that
            needs a subject; by default the packaged ones.
        translations: of `question_back`, for a question with a `language`; by default the packaged ones.
    """

    name = "reformulate"

    similarity: WordSimilarity | None = None
    _: KW_ONLY
    find: FindFor | None = None
    condense: Condense | None = None
    always: bool = False
    is_foreign: Foreign | None = None
    translate: Translate | None = None
    clean: Callable[[str], Redacted] | None = None
    text: Callable[[str], str] = prompts.load
    translations: Translations = field(default_factory=prompts.translations)

    def invoke(self, input: Question, config: RunnableConfig | None = None, **kwargs: Any) -> Reformulated:
        """Return the search query, and the redirect of what is not searched for.

        Raises QuestionError where the question or the history cannot be read.
        """
        question, turns, found = self._by_rule(input, config)
        if self.is_foreign and not _is_redirected(input, found) and self.is_foreign(question, config):
            if self.translate and (translation := self.translate.invoke(question, turns, config)):
                return self._translated(input, translation, config)
            found = {**found, "foreign": True}
        if self.condense and not self._is_settled(input, question, turns, found):
            query = self.condense.invoke(question, turns, config)
            return {**found, "search_query": query or found["search_query"]}
        return found

    async def ainvoke(self, input: Question, config: RunnableConfig | None = None, **kwargs: Any) -> Reformulated:
        question, turns, found = await run_in_executor(config, self._by_rule, input, config)
        if self.is_foreign and not _is_redirected(input, found) and await self.is_foreign.acall(question, config):
            if self.translate and (translation := await self.translate.ainvoke(question, turns, config)):
                return self._translated(input, translation, config)
            found = {**found, "foreign": True}
        if self.condense and not self._is_settled(input, question, turns, found):
            query = await self.condense.ainvoke(question, turns, config)
            return {**found, "search_query": query or found["search_query"]}
        return found

    def _translated(self, state: Question, translation: str, config: RunnableConfig | None) -> Reformulated:
        """Return what the rules make of the question in English."""
        text, kinds = self.clean(translation) if self.clean else Redacted(translation, [])
        *_, found = self._by_rule({**state, "question": text}, config)
        return {**found, "translation": text, "translation_redacted": kinds}

    def _is_settled(self, state: Question, question: str, turns: Sequence[Turn], found: Reformulated) -> bool:
        """Return whether the query stays: no other reading of the question is open, or several are in it."""
        if _is_redirected(state, found) or "parts" in found:
            return True
        is_new = self.find and found["search_query"] == question and leaning(question) and not has_gap(question)
        return not self.always and bool(not turns or is_new)

    def _by_rule(self, state: Question, config: RunnableConfig | None) -> tuple[str, list[Turn], Reformulated]:
        question, turns = question_of(state), turns_of(state.get("history"))
        redirect, parts = None, split_questions(question)
        if kind := small_talk(question):
            redirect = Redirect(intent=SMALL_TALK, text=self.text(kind))
        elif not turns and lacks_subject(question):
            text = translated(self.text("question_back"), state.get("language"), self.translations)
            pronoun = first_pronoun(question)
            missing = pronoun.group() if pronoun else question
            redirect = Redirect(intent=UNDERSPECIFIED, text=text.replace("{missing}", f"“{missing}”"))
        if len(parts) > 1 and redirect is None:
            return question, turns, Reformulated(search_query=question, scope=None, parts=self._parts(parts, turns))
        find = partial(self.find, config) if self.find else None
        query = standalone(parts[0].asked, turns, self.similarity, find)[:QUESTION_MAX_CHARACTERS]
        return question, turns, Reformulated(search_query=query, scope=redirect)

    def _parts(self, parts: Sequence[Part], turns: Sequence[Turn]) -> list[AskedPart]:
        """Return the parts of a message; one that lacks its subject takes it from those before."""
        found: list[AskedPart] = []
        before = list(turns)
        for asked, context, joined in parts:
            leans = not context or first_pronoun(asked) is not None
            query = standalone(asked, before, self.similarity) if leans else asked
            query = completed(query, found[-1]["query"]) if joined else query
            found.append(AskedPart(question=asked, query=f"{context} {query}".strip()[:QUESTION_MAX_CHARACTERS]))
            before.append(Turn("user", asked))
        return found


def verbatim(state: Question) -> Reformulated:
    """Search for the question as it is; QuestionError where it or the history cannot be read."""
    turns_of(state.get("history"))
    return Reformulated(search_query=question_of(state), scope=None)


def _is_redirected(state: Question, found: Reformulated) -> bool:
    return is_blocked(state) or found["scope"] is not None
