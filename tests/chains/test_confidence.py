import pytest
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.retrievers import BaseRetriever

from chains import build_chain


class Shelf(BaseRetriever):
    scores: list

    def _get_relevant_documents(self, query, *, run_manager):
        text = "Import GST in Singapore is 9 % of the CIF value."
        return [
            Document(
                f"{text} {number}", metadata={"title": "GST Guide"} | ({} if score == "absent" else {"score": score})
            )
            for number, score in enumerate(self.scores)
        ]


def confidence(*scores):
    model = GenericFakeChatModel(messages=iter([AIMessage("Import GST is 9 % of the CIF value [GST Guide].")]))
    return build_chain(retriever=Shelf(scores=list(scores)), model=model).invoke({"question": "Q?"})["confidence"]


@pytest.mark.parametrize("score", ["absent", None, "none", float("nan")])
def test_a_retriever_without_scores_gives_a_low_confidence_that_says_so(score):
    found = confidence(score, score, score)

    assert (found["level"], found["score"]) == ("Low", 0.0)
    assert found["reason"] == "The retriever gives no relevance scores"
    assert "average_score" not in found["factors"]


@pytest.mark.parametrize(
    ("scores", "level", "reason"),
    [
        ((0.5, 0.5, 0.5), "High", "3 relevant sources with 1 citation"),
        ((0.6, None, 0.5), "High", "3 relevant sources with 1 citation"),
        ((0.5, 0.5), "Medium", "2 sources found, average relevance 50%"),
        ((0.2, 0.2), "Low", "Low relevance scores (avg 20%)"),
        ((0.9,), "Low", "Only 1 source found"),
        (("0.5", 0.5, 0.5), "High", "3 relevant sources with 1 citation"),
    ],
)
def test_the_level_follows_the_number_of_chunks_and_their_average_score(scores, level, reason):
    found = confidence(*scores)

    assert (found["level"], found["reason"]) == (level, reason)
