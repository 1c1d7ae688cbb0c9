"""Retrieval, context, citations, confidence and reformulation as other systems recorded them, run on ours."""

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage

from app.ledger import open_database
from app.ledger.passages import Passages
from app.settings import load_settings
from app.wiring import Parts, open_service
from chains import build_chain, format_context
from chains.citations import CiteSources
from chains.confidence.composite import composite, explanation, factors
from chains.confidence.levels import Thresholds
from chains.context import trim
from chains.errors import ConfigurationError, QuestionError
from chains.output import merge
from chains.ports import CHARACTERS_PER_TOKEN
from chains.reformulation import Condense, Reformulate
from chains.retrieval.passages import passage, retrieve
from chains.retrieval.strategies import MmrRetriever
from chains.state import Passage
from tests.chains.gst import ANSWER, gst_chain, noting
from tests.contract.recorded import recorded
from tests.fakes import Reply, WordEmbeddings
from tests.indexes import index_in, put
from tests.prompted import asked as without_reminder

LONGEST_CHUNK = 1700


DEVIATIONS = {
    "marp-102": "an empty question is refused with 400, as the contract has it; the peer answers 200 with nothing",
    "lcel-251": "the memory store is a SQLite file, as every index is; the peer's is a JSON file with these keys",
    "lcel-252": "a file of another version is a ConfigurationError, as every index that does not fit its settings is; "
    "the peer's documents name a VectorStoreError, its code loads the file",
}


@pytest.mark.parametrize("case", recorded("retrieval", "memory_store", "chunk_trim", "token_estimate"))
def test_the_peers_cases_hold_or_the_deviation_is_listed(case, tmp_path, groq):
    check = CHECKS.get(case["id"]) or CHECKS[case["area"]]
    check(case, tmp_path, groq)


def token_estimate(case, tmp_path, groq):
    assert case["input"]["text_len"] // CHARACTERS_PER_TOKEN == case["expected"]


def chunk_trim(case, tmp_path, groq):
    class Characters:
        count = staticmethod(len)

        def cut(self, text, tokens):
            return text[:tokens]

    trimmed = trim("x" * case["input"]["text_len"], LONGEST_CHUNK, Characters())
    assert {"len": len(trimmed), "ellipsis": trimmed.endswith("…")} == case["expected"]


def identical_texts(case, tmp_path, groq):
    hits = [Document(text, metadata={"score": score}) for text, score in case["input"]["hits"]]
    found = retrieve(lambda _: hits).invoke({"question": "?"})
    assert [[passage["content"], passage["score"]] for passage in found] == case["expected"]


def empty_question(case, tmp_path, groq):
    assert case["expected"] == {"status": 200}
    assert case["id"] in DEVIATIONS
    with pytest.raises(QuestionError):
        retrieve(MmrRetriever(store=open_store(tmp_path))).invoke({"question": case["input"]["query"]})


def open_store(folder: Path, **passages: str) -> Passages:
    index = index_in(open_database(folder / "kb.sqlite3", collection="kb"))
    put(index, {name: Document(text) for name, text in passages.items()})
    return index.open()


def mmr_with_real_scores(case, tmp_path, groq):
    store = open_store(tmp_path, best="best words", mid="mid words here")
    found = MmrRetriever(store=store, top_k=2, threshold=0.0).invoke("best words")

    expected = {"best": 1.0, "mid": float(np.dot(*store.vectors(["best", "mid"]).values()))}
    assert {one.id: round(one.metadata["score"], 5) for one in found} == {
        id_: round(score, 5) for id_, score in expected.items()
    }


def compression(case, tmp_path, groq):
    corpus = tmp_path / "corpus" / "03_reference"
    corpus.mkdir(parents=True)
    (corpus / "a.md").write_text("# GST Guide\n\nThe rate is nine percent. Exports are free.")
    options = {name.lower(): value for name, value in case["input"]["env"].items()}
    settings = load_settings(llm_api_key="k", llm_base_url=groq.url, llm_max_retries=0, **options)
    services = open_service(settings, parts=Parts(embeddings=WordEmbeddings()))
    services.index.ingest([tmp_path / "corpus"])

    groq.replies += [Reply("Exports are free."), Reply(status=500)]
    compressed, fallen_back = (services.answerer.retriever.invoke("the rate", threshold=0.0) for _ in range(2))
    assert [one.page_content for one in compressed] == ["Exports are free."]
    assert ["The rate is nine percent" in one.page_content for one in fallen_back] == [True]


def persisted_file(case, tmp_path, groq):
    open_store(tmp_path, a="words")
    index = index_in(open_database(tmp_path / "kb.sqlite3", collection="kb"))
    assert case["id"] in DEVIATIONS
    assert list(index.open().vectors(["a"])) == ["a"]
    assert cast("WordEmbeddings", index.embeddings).embedded == case["expected"]["embed_calls_on_load"]


def other_version(case, tmp_path, groq):
    open_store(tmp_path, a="words")
    database = open_database(tmp_path / "kb.sqlite3", collection="kb")
    database.state("format", case["input"]["version"])
    assert case["id"] in DEVIATIONS
    with pytest.raises(ConfigurationError, match="waypoint ingest --reset"):
        index_in(database).open()


CHECKS = {
    "token_estimate": token_estimate,
    "chunk_trim": chunk_trim,
    "marp-094": identical_texts,
    "marp-102": empty_question,
    "lcel-246": mmr_with_real_scores,
    "lcel-249": compression,
    "lcel-251": persisted_file,
    "lcel-252": other_version,
}


CONTEXT_DEVIATIONS = {
    "marp-050": "a chunk without words is not shown: there is nothing in it to cite",
    "marp-052": "separators count, and what is left of the budget shows the beginning of the next chunk",
    "marp-055": "0 is a value: a budget of no tokens shows nothing (MAX_CONTEXT_TOKENS has to be positive)",
    "marp-056": "question and context travel in messages of their own, not in one text",
}


def passage_of(chunk: dict) -> Passage:
    return Passage(content=chunk.get("text", ""), metadata=chunk, score=0.5)


@pytest.mark.parametrize("case", recorded("context"))
def test_the_context_is_what_the_contract_says(case):
    chunks = case["input"].get("chunks")
    if case["id"] in CONTEXT_DEVIATIONS:
        pytest.xfail(CONTEXT_DEVIATIONS[case["id"]])
    assert format_context([passage_of(chunk) for chunk in chunks], style="numbered")["text"] == case["expected"]


def test_twelve_long_chunks_fill_the_budget_and_never_pass_it():
    chunks = [passage_of({"title": "T", "page": 1, "text": "word " * 340}) for _ in range(12)]
    context = format_context(chunks, max_tokens=3500, style="numbered")

    assert len(context["passages"]) == 9
    assert 13_000 < len(context["text"]) <= 14_000


FALLBACK = "The MARP documents provided do not contain information"


AREAS = (
    *("citation_renumber", "citation_dedupe", "citation_invalid", "citation_grammar"),
    *("anti_hallucination", "insufficient_info"),
)


CITATION_DEVIATIONS = {"marp-024": "page 0 is taken for an unknown page, so that a document without pages can be cited"}


CITATIONS = CiteSources(style="numbered", markers_suffice=True)  # As in POST /chat.


def chunks_of(chunks: Any) -> list[dict]:
    if isinstance(chunks, str):  # Chunks 2 and 3 do not fit into the prompt.
        sizes = [10, 20_000, 20_000]
        return [{"title": f"Doc {n}", "page": n, "url": f"https://x/{n}", "size": s} for n, s in enumerate(sizes, 1)]
    return chunks


def run(case: dict, *, stream: bool) -> dict[str, Any]:
    documents = [
        Document(
            f"{chunk['url']} " * (chunk.get("size", 5) // 5),
            metadata={**chunk, "source_urls": [chunk["url"]], "score": 0.9},
        )
        for chunk in chunks_of(case["input"]["chunks"])
    ]
    model = GenericFakeChatModel(messages=iter([AIMessage(case["input"]["answer"])]))
    chain = build_chain(retriever=lambda _: documents, model=model, citations=CITATIONS)
    if not stream:
        return dict(chain.invoke({"question": "Q?"}))
    return dict(merge(chain.stream({"question": "Q?"})))


@pytest.mark.parametrize("stream", [False, True], ids=["invoke", "stream"])
@pytest.mark.parametrize("case", recorded(*AREAS))
def test_the_answer_and_its_citations_are_what_the_contract_says(case, stream):
    if case["id"] in CITATION_DEVIATIONS:
        pytest.xfail(CITATION_DEVIATIONS[case["id"]])
    answer, expected = run(case, stream=stream), case["expected"]
    by_number = {citation["number"]: citation for citation in answer["citations"]}
    found = [{"title": c["title"], "page": c["page"], "url": c["source_urls"][0]} for _, c in sorted(by_number.items())]

    assert found == expected["citations"]
    if expected["answer"].startswith(FALLBACK):
        assert answer["outcome"] == "ungrounded"
    else:
        assert answer["answer"] == expected["answer"]
        assert answer["outcome"] == ("answered" if expected["citations"] else "declined")


def cases(field: str) -> list[Any]:
    return [row for row in recorded("confidence") if row.values[0] is None or field in row.values[0]["input"]]


@pytest.mark.parametrize("case", cases("similarityScores"))
def test_the_composite_score_level_factors_and_explanation_are_the_expected_ones(case):
    given, expected = case["input"], case["expected"]

    found = factors(given["similarityScores"], given["documentCount"], given["topK"], given["answerText"])
    wanted = {{"answerQuality": "answer_quality"}.get(name, name): value for name, value in expected["factors"].items()}
    assert found == pytest.approx(wanted)
    assert composite(found) == pytest.approx(expected["overall"])
    assert Thresholds().level(composite(found)) == expected["level"]
    assert explanation(found) == expected["explanation"]


@pytest.mark.parametrize("case", cases("metadata"))
def test_a_similarity_is_read_from_each_name_that_retrievers_give_it(case):
    assert passage(Document("text", metadata=case["input"]["metadata"]))["score"] == pytest.approx(case["expected"])


@pytest.mark.parametrize("case", cases("distances"))
def test_distant_documents_rate_lower_than_near_ones(case):
    def rated(distances: list[float]) -> float:
        return composite(factors([1 - one for one in distances], len(distances), case["input"]["topK"], "It renews."))

    assert rated(case["input"]["distances"]) < rated([0.2, 0.9])
    assert Thresholds().level(rated(case["input"]["distances"])) != "high"


class Scripted(FakeListChatModel):
    """Replies as the case says, or fails."""

    error: str | None = None

    def _call(self, *args: Any, **kwargs: Any) -> str:
        if self.error:
            raise ConnectionError(self.error)
        return str(super()._call(*args, **kwargs))


def asked(query: str, reply: str, error: str | None = None) -> tuple[Any, list[BaseMessage]]:
    """Return the answer to a question that is always reformulated, and the prompt of the answer."""
    condense = Condense(Scripted(responses=[reply], error=error))
    model = noting(ANSWER)
    reformulation = Reformulate(condense=condense, always=True)
    answer = gst_chain(model=model, reformulation=reformulation).invoke({"question": query})
    return answer, model.asked[0]


@pytest.mark.parametrize("case", recorded("reformulation"))
def test_a_reply_is_used_as_the_service_used_it(case):
    given, expected = case["input"], case["expected"]
    if "error" in given:
        answer, _ = asked("orig", "", error=given["error"])
        assert answer["metadata"]["search_query"] == expected
    elif "llm_output" in given:
        answer, _ = asked("Waht is MARP?", given["llm_output"])
        assert answer["metadata"]["search_query"] == expected
    else:
        answer, prompt = asked(given["query"], given["reformulated"])
        told = {
            "search_query": answer["metadata"]["search_query"],
            "prompt_question": without_reminder(prompt[-1].text),
            "response_query": answer["question"],
        }
        assert told == expected
