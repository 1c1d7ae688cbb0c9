from app.adapters.embeddings.cached import MemoizedEmbeddings
from tests.fakes import WordEmbeddings


class Counting(WordEmbeddings):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed_query(self, text: str) -> list[float]:
        self.asked.append(text)
        return super().embed_query(text)


async def test_the_gate_and_the_retriever_embed_a_question_once_whichever_way_they_ask():
    inner = Counting()
    recent = MemoizedEmbeddings(inner)

    assert await recent.aembed_query("rate?") == recent.embed_query("rate?") == inner._vector("rate?")
    assert inner.asked == ["rate?"]


def test_only_the_last_questions_are_kept():
    inner = Counting()
    recent = MemoizedEmbeddings(inner, size=2)
    for question in ("a", "b", "c", "c", "a"):
        recent.embed_query(question)

    assert inner.asked == ["a", "b", "c", "a"]
