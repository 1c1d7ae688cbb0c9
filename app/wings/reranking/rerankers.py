"""Rerank with the language model, or by a service.

The model reads all passages in one prompt, and replies with their numbers in order, after Ma et al., Zero-Shot Listwise
Document Reranking with a Large Language Model (arXiv 2305.02156). LangChain's own `LLMListwiseRerank` needs a model
with structured output; plain numbers work with any. A service has `POST {base_url}/rerank`, as Cohere, Jina, vLLM and
llama.cpp offer it.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import httpx
from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.language_models import BaseChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, PrivateAttr

import prompts
from app.adapters.http_client import ServiceCalls, ServiceKind
from app.settings import Settings
from app.wiring.models import RERANKER_TIMEOUT_S
from chains.errors import RetrievalError
from chains.retrieval.retriever import with_metadata
from chains.text.letters import escape_tag

LONGEST = 700
_NUMBER = re.compile(r"\d+")


class ListwiseReranker(BaseDocumentCompressor):
    """The passages whose numbers the model writes, in their order; others are left out.

    `prompt` says what it has to do, with `{documents}`; the question is the user's message.
    """

    model: BaseChatModel
    prompt: str

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Return the passages, most relevant first. Raise ValueError if the reply names no passage."""
        template = ChatPromptTemplate.from_messages([("system", self.prompt), ("human", "{question}")])
        config = RunnableConfig(callbacks=callbacks, run_name="rerank")
        reply = (template | self.model | StrOutputParser()).invoke(
            {"documents": _numbered(documents), "question": query}, config
        )
        places = dict.fromkeys(int(number) - 1 for number in _NUMBER.findall(reply))
        chosen = [documents[place] for place in places if 0 <= place < len(documents)]
        if not chosen:
            raise ValueError("the reply names no passage")
        return chosen


def _numbered(documents: Sequence[Document]) -> str:
    """Return the passages as the prompt shows them, each cut to `LONGEST` characters."""
    lines = []
    for number, document in enumerate(documents, start=1):
        names = (document.metadata.get(name) for name in ("title", "section"))
        text = f"{' > '.join(str(name) for name in names if name)}\n{document.page_content[:LONGEST]}"
        lines.append(f'<document number="{number}">\n{escape_tag(text, "document")}\n</document>')
    return "\n".join(lines)


def listwise(settings: Settings, model: Callable[[], BaseChatModel], _name: str) -> ListwiseReranker:
    return ListwiseReranker(model=model(), prompt=prompts.load("rerank", settings.prompt.folder))


KIND = ServiceKind(
    name="reranking service",
    path="/rerank",
    address="RERANKER",
    key="RERANKER_API_KEY",
    model="RERANKER",
    unreadable="no list of results",
    error=RetrievalError,
    keeps_connection=True,
)


class Result(BaseModel):
    """The score of one passage, by its place in the request."""

    index: int
    relevance_score: float


class Reply(BaseModel):
    """What a service answers."""

    results: list[Result]


class ServiceReranker(BaseDocumentCompressor):
    """The passages in the order of a service's scores, each with its `relevance_score` in the metadata.

    Without a model the service chooses. It is asked once; after five failures in a row it is not asked for a minute.
    """

    model: str | None
    _calls: ServiceCalls = PrivateAttr()

    def __init__(self, *, base_url: str, model: str | None, **options: Any) -> None:
        super().__init__(model=model)
        self._calls = ServiceCalls(KIND, base_url, **options)

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Return the passages, most relevant first.

        Raise RetrievalError if the service refuses, or answers what does not fit; or it cannot be reached, or failed.
        """
        body = {"query": query, "documents": [document.page_content for document in documents]}
        asked = body | ({"model": self.model} if self.model else {})
        results = self._calls.post_once(asked, lambda response: self._read(response, len(documents)), callbacks)
        best = sorted(results, key=lambda one: one.relevance_score, reverse=True)
        return [with_metadata(documents[result.index], {"relevance_score": result.relevance_score}) for result in best]

    def _read(self, response: httpx.Response, count: int) -> list[Result]:
        results = self._calls.reply(response, Reply).results
        if not all(0 <= result.index < count for result in results):
            raise self._calls.misfit(f"results that are not among the {count} passages")
        return results


def service(settings: Settings, _model: Any, name: str) -> ServiceReranker:
    address, key = str(settings.retrieval.reranker).partition(" ")[0], settings.retrieval.reranker_api_key
    return ServiceReranker(base_url=address, model=name or None, api_key=key, timeout_s=RERANKER_TIMEOUT_S)
