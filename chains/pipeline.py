"""Compose the stages into one chain: a question goes in, a cited and scored answer comes out."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableConfig, RunnablePassthrough, RunnableSequence

from chains.citations import CiteSources
from chains.cited_answer import CitedAnswer, call_handlers, check_model, check_retriever, check_stages, output_of
from chains.clock import Clock
from chains.confidence.levels import ConfidenceStrategy, RateAnswers, score_confidence
from chains.context import FormatContext
from chains.generation import ChatModel, generate
from chains.history import HistoryWindow
from chains.output import AnswerOutput
from chains.reformulation import Reformulate
from chains.retrieval.passages import Retrieve, Retriever
from chains.rewriting import Rewrite
from chains.safety.screening import Safety
from chains.stage import QuickStep, SideBySide, Stage, stage, step_of
from chains.state import Answer, Passage, Question, Redirect, Reformulated, Retrieved, Scored
from prompts import Translations

STAGES = ("reformulation", "retrieval", "context", "generation", "citations", "confidence")
# Steps whose time counts with the stage behind them, or with the whole answer alone.
BEFORE = ("safety", "translation", "scope", "sections", "screening", "answer_translation")
Sections = Callable[[Retrieved, RunnableConfig], Sequence[Passage]]
Reformulation = Runnable[Question, Reformulated] | Callable[[Question], Reformulated]


def build_chain(
    *,
    retriever: Retriever,
    model: ChatModel,
    sections: Sections | None = None,
    system: str | ChatPromptTemplate | None = None,
    reminder: str | None = None,
    parts: str | None = None,
    no_results: str | None = None,
    unread: str | None = None,
    translations: Translations | None = None,
    context: FormatContext | None = None,
    citations: CiteSources | None = None,
    confidence: ConfidenceStrategy = score_confidence,
    reformulation: Reformulation | Runnable[Any, str] | None = None,
    history: HistoryWindow | None = None,
    scope: Runnable[Any, Redirect | None] | None = None,
    safety: Safety | None = None,
    stages: Mapping[str, Stage] | None = None,
    metadata: Mapping[str, str] | None = None,
    variables: Mapping[str, str] | None = None,
    native_citations: bool = False,
    passages_first: bool = False,
    timeout_s: float | None = None,
    clock: Clock | None = None,
) -> CitedAnswer:
    """Compose the stages into a RunnableSequence; each adds its field to the state.

    Args:
        retriever: any LangChain retriever, or another Runnable or function from a question to documents; a `score` in
            their metadata is taken for the similarity.
        model: any LangChain chat model, or a Runnable around one, such as `model.with_retry()`.
        sections: gives the other passages of the sections of what was retrieved, nearest first, from the state and the
            config; as many as fit into the context are shown beside them, and can be cited. By default none.
        system: the system prompt's text with a `{context}` placeholder, or a whole prompt with `{context}` and
            `{question}`; by default the packaged one, which asks for the numbers of the context's documents.
        reminder: the last words of the question's message; by default the packaged prompt's, and none beside one of
            your own.
        parts: the last words of a message with several questions, with `{count}` and `{questions}`; by default the
            packaged ones.
        no_results: the answer where nothing was retrieved; by default the packaged one.
        unread: the answer to a question that is not English, where the model reads only that; by default it is asked.
        translations: of such texts, for a question with a `language`; by default the packaged ones.
        context: how passages become the prompt's context; by default within 2,000 tokens.
        citations: how the answer's markers are read and matched.
        confidence: how far an answer can be trusted; by default by tiers of similarity.
        reformulation: what makes a follow-up a question that stands alone; by default a rule without a model, and
            `chains.reformulation.verbatim` searches for the user's own words. Text of a Runnable is the query.
        history: what of the conversation the model is shown; by default whole turns within 1,000 tokens.
        scope: what is declined before anything is searched; by default nothing. Its time counts with retrieval's.
        safety: what of question, passages and answer is checked; by default nothing.
        stages: stages of your own (`chains.stage.stage`), each behind the stage that it is keyed by. A new field of
            theirs reaches the answer; a field that is there is replaced for what comes after.
        metadata: for `title`, `section`, `page`, `source_urls` and other names of ours, the names that the retriever's
            documents use; by default those of LangChain's loaders and splitters.
        variables: of a whole prompt of your own, each by the name of ours that fills it: `{"input": "question"}`.
        native_citations: whether the model gets the passages as documents that it cites by itself (Claude, also on
            Bedrock, and Cohere); its citations are then read, verified and written like markers.
        passages_first: whether a stream yields the passages as soon as they are found, for a reader who waits; else it
            yields nothing before the first words, so that `with_fallbacks` can ask another chain.
        timeout_s: how long a call may take; DeadlineError after that. `invoke` and `stream` then run the retriever and
            the model in one worker thread; without a limit they start none.
        clock: tells the time for that.

    Raises:
        ConfigurationError: a part cannot work here, such as a model that gives text; the prompt lacks a variable, or
            has one that nothing fills; or `stages` names none of ours.
    """
    check_retriever(retriever)
    check_model(model)
    timer, cite = clock or Clock(), citations or CiteSources()
    query: Runnable[Any, Any] = step_of(reformulation or Reformulate())
    if is_text := output_of(query) is str:  # As of `prompt | model | StrOutputParser()`.
        query = RunnablePassthrough.assign(history=QuickStep(_history)) | query
    search: Runnable[Any, Any] = Retrieve(retriever, metadata)
    if safety and safety.moderate:  # It judges the question beside the search, and is done before the model is asked.
        search = SideBySide({"documents": search, "moderation": safety.moderate}, unpack="documents")
    ask = generate(
        model,
        system=system,
        variables=variables,
        reminder=reminder,
        parts=parts,
        no_results=no_results,
        unread=unread,
        translations=translations,
        history=history,
        clock=timer,
        native_citations=native_citations,
    )
    answer: Runnable[Any, Any] = Rewrite(ask, cite, safety)

    assign = RunnablePassthrough.assign
    check, screened = safety and safety.question, ["documents", "nearest", *(["siblings"] if sections else [])]
    kept = {field: QuickStep(safety.keep(field)) for field in screened} if safety else {}
    every = [
        check and stage("safety", assign(history=QuickStep(check.history), safety=QuickStep(check))),
        stage("reformulation", assign(search_query=query), unpack=not is_text),
        check and stage("translation", assign(safety=QuickStep(check.translated))),
        scope and stage("scope", assign(scope=scope)),
        stage("retrieval", assign(documents=search), unpack=True),
        sections and stage("sections", siblings=sections),
        safety and stage("screening", assign(**kept, passages_dropped=QuickStep(safety.count_dropped))),
        stage("context", assign(context=QuickStep(context or FormatContext()))),
        stage("generation", assign(answer=answer), unpack=True),
        stage("citations", assign(citations=QuickStep(cite)), unpack=True),
        stage("confidence", assign(confidence=step_of(RateAnswers(confidence)))),
    ]
    steps = [step for step in every if step]
    own = stages or {}
    check_stages(own, [step.get_name() for step in steps])
    steps = [one for step in steps for one in (step, own.get(step.get_name())) if one is not None]
    timed = tuple(step.get_name() for step in steps if step.get_name() not in BEFORE)
    more = [field for one in own.values() for field in one.mapper.steps__ if field not in Scored.__annotations__]
    return CitedAnswer(
        bound=RunnableSequence(*steps, AnswerOutput(more, passages_first=passages_first), name="cited_answer"),
        config_factories=[partial(call_handlers, timed, timeout_s, timer)],
        custom_input_type=Question,
        custom_output_type=Answer,
    )


def _history(state: Question) -> list[Any]:
    return state.get("history", [])
