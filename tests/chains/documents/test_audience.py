import pytest

from chains.citations.sources import related_documents
from chains.documents.audience import audience_of, category_of
from chains.retrieval import Filters


@pytest.mark.parametrize(
    ("names", "category"),
    [
        (["kb", "04_internal_synthetic", "policies"], "internal"),
        (["04_INTERNAL_Synthetic"], "internal"),
        (["Internal"], "internal"),
        (["04_internal_synthetic", "01_regulatory"], "internal"),
        (["01_regulatory", "internal"], "internal"),
        (["02_carriers", "03_reference"], "reference"),
        (["kb", "02_carriers", "asia"], "carrier"),
        (["sales"], None),
        ([None, ""], None),
        ([], None),
    ],
)
def test_any_folder_decides_the_category_and_internal_wins(names, category):
    assert category_of(names) == category


@pytest.mark.parametrize(
    "metadata",
    [
        {"audience": "internal"},
        {"audience": " Internal "},
        {"audience": "staff"},
        {"audience": "public, internal"},
        {"category": "INTERNAL"},
        {"category": "04_internal_synthetic"},
        {"source_type": "Internal"},
        {"source_type": "Synthetic Internal"},
        {"source_type": "internal_memo"},
        {"category": "policy", "file_path": "04_internal_synthetic/policies/x.md"},
        {"file_path": "kb\\04_Internal_Synthetic\\x.md"},
    ],
)
def test_what_says_internal_in_any_way_is_internal(metadata):
    assert audience_of(metadata, unstated="public") == "internal"
    assert not Filters("public").allow(metadata)


def test_a_stated_audience_decides_before_folder_and_category():
    metadata = {"audience": "Public", "category": "internal", "file_path": "04_internal_synthetic/x.md"}
    assert audience_of(metadata) == "public"
    assert Filters("public").allow(metadata)


def test_a_folder_above_the_corpus_decides_too():
    assert audience_of({}, folders=["kb", "04_internal_synthetic", "policies"], unstated="public") == "internal"


def test_a_document_that_states_nothing_is_what_the_caller_says():
    assert audience_of({"category": "carrier"}, unstated="public") == "public"
    assert audience_of({"category": "carrier"}) == "internal"


def test_a_related_document_is_of_the_category_that_its_folder_stands_for():
    metadata = {"title": "T", "doc_id": "t"}
    categories = ["04_Internal_Synthetic", "Regulatory", "sales", None]
    related = [
        related_documents([{"content": "c", "metadata": metadata | {"category": category}, "score": 1.0}])[0]
        for category in categories
    ]
    assert [one["category"] for one in related] == ["internal", "regulatory", "sales", None]
