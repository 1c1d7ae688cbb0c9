"""The MARP service's citation cases: what it had to return, through the whole chain, streamed and not.

Compared are the outcome and the citations; the texts that replace an answer are this project's own.
"""

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from chains import build_chain
from chains.citations import CiteSources
from chains.output import merge
from tests.contract.recorded import recorded

FALLBACK = "The MARP documents provided do not contain information"
AREAS = (
    *("citation_renumber", "citation_dedupe", "citation_invalid", "citation_grammar"),
    *("anti_hallucination", "insufficient_info"),
)
DEVIATIONS = {"marp-024": "page 0 is taken for an unknown page, so that a document without pages can be cited"}


CITATIONS = CiteSources(style="numbered", markers_suffice=True)  # As in POST /chat.


def shelf(chunks: Any) -> list[dict]:
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
        for chunk in shelf(case["input"]["chunks"])
    ]
    model = GenericFakeChatModel(messages=iter([AIMessage(case["input"]["answer"])]))
    chain = build_chain(retriever=lambda _: documents, model=model, citations=CITATIONS)
    if not stream:
        return dict(chain.invoke({"question": "Q?"}))
    return dict(merge(chain.stream({"question": "Q?"})))


@pytest.mark.parametrize("stream", [False, True], ids=["invoke", "stream"])
@pytest.mark.parametrize("case", recorded(*AREAS))
def test_the_answer_and_its_citations_are_what_the_contract_says(case, stream):
    if case["id"] in DEVIATIONS:
        pytest.xfail(DEVIATIONS[case["id"]])
    answer, expected = run(case, stream=stream), case["expected"]
    by_number = {citation["number"]: citation for citation in answer["citations"]}
    found = [{"title": c["title"], "page": c["page"], "url": c["source_urls"][0]} for _, c in sorted(by_number.items())]

    assert found == expected["citations"]
    if expected["answer"].startswith(FALLBACK):
        assert answer["outcome"] == "ungrounded"
    else:
        assert answer["answer"] == expected["answer"]
        assert answer["outcome"] == ("answered" if expected["citations"] else "declined")
