from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from chains import build_chain

GST = "The relief limit is S$400 for goods by air or post."


FOUND = [
    Document(GST, metadata={"title": "GST Guide", "section": "Reliefs"}),
    Document("A Form D proves ASEAN origin.", metadata={"title": "Certificates of Origin"}),
]


def test_the_chunks_used_are_the_sources_that_a_marker_names_each_counted_once():
    answer = f"{GST} A Form D proves ASEAN origin [Certificates of Origin]. So it is [Certificates of Origin]."
    model = GenericFakeChatModel(messages=iter([AIMessage(answer)]))
    found = build_chain(retriever=lambda _: FOUND, model=model).invoke({"question": "Q?"})

    assert [citation["attributed"] for citation in found["citations"]] == [True, False, False]
    assert found["metadata"]["chunks_used"] == 1


def test_tokens_that_the_provider_had_in_its_cache_are_told():
    usage: Any = {
        "input_tokens": 900,
        "output_tokens": 9,
        "total_tokens": 909,
        "input_token_details": {"cache_read": 640},
    }
    model = GenericFakeChatModel(messages=iter([AIMessage(f"{GST} [GST Guide].", usage_metadata=usage)]))
    found = build_chain(retriever=lambda _: FOUND, model=model).invoke({"question": "Q?"})

    told = {"input_tokens": 900, "output_tokens": 9, "total_tokens": 909, "cached_tokens": 640}
    assert found["metadata"]["usage"] == told
