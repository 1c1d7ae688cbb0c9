"""One answer, in full: the example of every contract in the API's description."""

from typing import Any

from chains.state import Answer, Citation, Confidence, Metadata, Passage, RelatedDocument, Source

_TITLE, _DOC_ID, _URL = "GST Guide", "01_regulatory_gst", "https://example.org/gst"
_RUN = "0b6d7c0e-3f0a-4c39-9a43-9c7a1c1f7f3e"

ANSWER = Answer(
    question="What is the GST rate on imports?",
    answer="It is 9 % [GST Guide > Rate].",
    outcome="answered",
    citations=[
        Citation(
            raw="[GST Guide > Rate]",
            number=1,
            title=_TITLE,
            section="Rate",
            page=None,
            doc_id=_DOC_ID,
            matched=True,
            source_urls=[_URL],
            score=0.71,
            start=10,
            end=28,
            quote="The rate of GST on imports into Singapore is 9 %.",
            support=0.93,
            attributed=False,
            contradicted=False,
        )
    ],
    sources=[Source(title=_TITLE, org="Customs", url=_URL, section="Rate", page=None)],
    related_docs=[RelatedDocument(title=_TITLE, category="regulatory", doc_id=_DOC_ID, url=_URL)],
    confidence=Confidence(level="Low", score=0.71, reason="Only 1 source found", factors={"average_score": 0.71}),
    documents=[
        Passage(
            content="## Rate\n\nThe rate of GST on imports into Singapore is 9 %.",
            metadata={"doc_id": _DOC_ID, "title": _TITLE, "section": "Rate"},
            score=0.71,
        )
    ],
    metadata=Metadata(
        query="What is the GST rate on imports?",
        search_query="What is the GST rate on imports?",
        chunks_retrieved=1,
        chunks_used=1,
        latency_ms=512.3,
        timings_ms={"retrieval": 8.1, "context": 0.2, "generation": 498.7, "citations": 3.9, "confidence": 0.1},
        model="llama-3.1-8b-instant",
        usage={"input_tokens": 412, "output_tokens": 14, "total_tokens": 426},
        finish_reason="stop",
        cache=None,
        trace_id=_RUN,
    ),
)

_RUN_METADATA = {"run_id": _RUN, "feedback_tokens": []}
INVOKED = {"output": ANSWER, "metadata": _RUN_METADATA}
BATCHED = {"output": [ANSWER], "metadata": {"run_ids": [_RUN], "responses": [_RUN_METADATA]}}


def answered_with(example: Any, description: str = "The answer") -> dict[int | str, dict[str, Any]]:
    """Return what the API's description says of a 200 with this example."""
    return {200: {"description": description, "content": {"application/json": {"example": example}}}}
