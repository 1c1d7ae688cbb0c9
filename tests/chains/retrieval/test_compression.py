import pytest
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from chains.errors import LLMTimeoutError
from chains.retrieval import ChunkRetriever, CompressionRetriever

TEXT = "The rate of GST is nine percent. Exports are zero-rated. Imports pay at the border."


class Shelf(ChunkRetriever):
    documents: list[Document]

    def find(self, query, *, top_k, threshold, filters, callbacks):
        return self.documents[:top_k]


class Scripted(GenericFakeChatModel):
    """Says what it is told, and keeps what it was asked."""

    asked: list[str] = []

    def _generate(self, messages, *args, **kwargs):
        self.asked.append("\n".join(str(message.content) for message in messages))
        reply = next(self.messages)
        if isinstance(reply, Exception):
            raise reply
        return super()._generate(messages, *args, **kwargs) if reply is None else self._said(reply)

    def _said(self, reply):
        self.messages = iter([AIMessage(reply), *self.messages])
        return super()._generate([])


def compress(reply, *texts, **metadata):
    documents = [Document(text, metadata={"score": 0.5, **metadata}) for text in texts or (TEXT,)]
    model = Scripted(messages=iter([reply] * len(documents)), asked=[])
    return CompressionRetriever(retriever=Shelf(documents=documents), model=model, concurrency=1), model


def only(retriever):
    [document] = retriever.invoke("Are exports taxed?")
    return document


def test_a_chunk_is_cut_down_to_the_extract_and_its_offsets_follow():
    found = only(compress(" Exports are zero-rated.\n", start_char=100, end_char=100 + len(TEXT))[0])

    assert found.page_content == "Exports are zero-rated."
    assert {name: found.metadata[name] for name in ("score", "compressed", "start_char", "end_char")} == {
        "score": 0.5,
        "compressed": True,
        "start_char": 100 + TEXT.index("Exports"),
        "end_char": 100 + TEXT.index("Exports") + len("Exports are zero-rated."),
    }


@pytest.mark.parametrize(
    "reply", ["Exports are zero rated.", "", "  \n", "NONE", TEXT, LLMTimeoutError("late"), OSError()]
)
def test_a_chunk_stays_whole_where_the_extract_is_not_its_own_or_the_model_fails(reply):
    found = only(compress(reply)[0])
    assert (found.page_content, "compressed" in found.metadata) == (TEXT, False)


def test_a_chunk_without_offsets_is_cut_all_the_same():
    assert only(compress("zero-rated")[0]).metadata == {"score": 0.5, "compressed": True, "rank": 1}


def test_the_model_is_asked_once_for_each_chunk_with_the_question():
    retriever, model = compress("nothing", "first {text}", "second")
    retriever.invoke("Are {exports} taxed?")

    assert [("first {text}" in asked, "second" in asked) for asked in model.asked] == [(True, False), (False, True)]
    assert all("Are {exports} taxed?" in asked for asked in model.asked)


async def test_it_works_without_blocking_the_loop():
    [found] = await compress("zero-rated")[0].ainvoke("Are exports taxed?")
    assert found.page_content == "zero-rated"
