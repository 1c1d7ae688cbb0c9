"""Rerank with the language model: all passages in one prompt, their numbers in order as the reply.

After Ma et al., Zero-Shot Listwise Document Reranking with a Large Language Model (arXiv 2305.02156). LangChain's own
`LLMListwiseRerank` needs a model with structured output; plain numbers work with any.
"""

import re
from collections.abc import Callable, Sequence

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.language_models import BaseChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableConfig

import prompts
from app.settings import Settings
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


def listwise(settings: Settings, model: Callable[[], BaseChatModel]) -> ListwiseReranker:
    return ListwiseReranker(model=model(), prompt=prompts.load("rerank", settings.prompt.folder))
