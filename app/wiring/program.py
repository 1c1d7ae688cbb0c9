"""The configured chain for programs that embed Waypoint, without server or command line."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig

from app.settings import Settings, load_settings
from app.wiring.chain import safe_text
from app.wiring.sample import settings_to_ask
from app.wiring.service import Service, open_service
from chains.around.runnable import Around
from chains.cited_answer import CitedAnswer
from chains.question import check_fields, check_question
from chains.retrieval import ChunkRetriever
from chains.retrieval import retrieve as retrieve_documents
from chains.retrieval.retriever import ASKED
from chains.state import Answer, Passage, Question


class Configured(Around):
    """The chain of the settings. It is pickled as them: None are those of the process that reads it."""

    def __init__(self, settings: Settings | None) -> None:
        service = _opened() if settings is None else open_service(settings, serving=False)
        super().__init__(service.chain)
        self._settings = settings

    def __reduce__(self) -> tuple[type["Configured"], tuple[Settings | None]]:
        return Configured, (self._settings,)


def open_chain(settings: Settings | None = None) -> Runnable[Question, Answer]:
    """Return the configured chain, as `waypoint ask` uses it; it can what a chain of `build_chain` can.

    Args:
        settings: default: those of the environment and `.env`; the chain is then shared by the process.

    Raises:
        SettingsError: a setting is invalid.
        WaypointError: the index or the model cannot be opened.
    """
    return CitedAnswer(bound=Configured(settings), custom_input_type=Question, custom_output_type=Answer)


def open_retriever(settings: Settings | None = None) -> ChunkRetriever:
    """Return the configured retriever; its documents have an id and, in their metadata, score, title, section, page.

    Raise SettingsError if a setting is invalid; WaypointError if the index cannot be opened.
    """
    service = _opened() if settings is None else open_service(settings, serving=False)
    return service.answerer.retriever


def process_query(
    question: str, *, history: Sequence[Any] = (), config: RunnableConfig | None = None, **fields: Any
) -> Answer:
    """Return the answer of `open_chain()`; `fields` are further ones of a Question, such as `top_k` or `filters`.

    Raise ConfigurationError if a question has no such field; WaypointError if it cannot be answered.
    """
    check_fields(fields, Question.__annotations__, "a question")
    asked: Any = {"question": question, "history": list(history)} | fields
    return open_chain().invoke(asked, config)


def retrieve(question: str, *, config: RunnableConfig | None = None, **fields: Any) -> list[Passage]:
    """Return the passages nearest to a question, best first, by the settings of `open_chain()`.

    `fields` are `top_k`, `threshold` and `filters`. Personal data is removed before the search, as for an answer. Raise
    ConfigurationError if a search has no such field; QuestionError if the question is empty, too long, or no text;
    RetrievalError if the documents cannot be searched.
    """
    check_fields(fields, ASKED, "a search")
    service = _opened()
    asked: Any = {"question": safe_text(service.settings, check_question(question))} | fields
    return retrieve_documents(service.answerer.retriever).invoke(asked, config)


@cache
def _opened() -> Service:
    return open_service(settings_to_ask(load_settings()), serving=False)
