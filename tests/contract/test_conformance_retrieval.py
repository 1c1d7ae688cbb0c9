"""Retrieval as other systems recorded it: their cases, run on ours; where ours differs, the reason stands here."""

from pathlib import Path
from typing import cast

import numpy as np
import pytest
from langchain_core.documents import Document

from app.ledger import open_database
from app.ledger.passages import Passages
from app.settings import load_settings
from app.wiring import Parts, open_service
from chains.context import trim
from chains.errors import ConfigurationError, QuestionError
from chains.ports import CHARACTERS_PER_TOKEN
from chains.retrieval import MmrRetriever, retrieve
from tests.contract.recorded import recorded
from tests.fakes import Reply, WordEmbeddings
from tests.indexes import index_in, put

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
    assert cast("WordEmbeddings", index.recipe.embeddings).embedded == case["expected"]["embed_calls_on_load"]


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
