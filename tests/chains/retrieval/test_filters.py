"""Filters: of the call, and of the question by the documents' metadata."""

from typing import Any

import pytest
from langchain_core.documents import Document

from chains import as_search_tool
from chains.errors import ConfigurationError, QuestionError
from chains.retrieval.filters import FieldIndex, Filters, conditions_of, filters_of
from chains.retrieval.passages import retrieve


@pytest.mark.parametrize("config", [None, {}, {"configurable": {}}, {"metadata": {"audience": "public"}}])
def test_without_filters_the_caller_is_staff_and_sees_all(config):
    assert filters_of(config) == Filters("internal")
    assert Filters().where() == {}
    assert Filters().allow({})


def test_a_chunk_that_does_not_say_whom_it_is_for_is_not_public():
    assert not Filters("public").allow({})
    assert not Filters("public").allow({"audience": None})


@pytest.mark.parametrize(
    "values", [{"audience": "PUBLIC"}, {"audience": None}, {"audience": ""}, {"category": 1}, {"jurisdiction": ["SG"]}]
)
def test_what_cannot_be_filtered_by_is_refused_by_name(values):
    with pytest.raises(ConfigurationError, match=next(iter(values))):
        filters_of({"configurable": values})


SHELF = [
    ("sea", {"category": "carrier", "jurisdiction": "SG, ID", "last_updated": "2024-03-05", "audience": "public"}),
    ("air", {"category": "carrier", "jurisdiction": "MY", "last_updated": "2023-11-30", "audience": "public"}),
    ("pay", {"category": "internal", "owner": "Finance", "last_updated": "2024-02", "audience": "internal"}),
]


def shelf(question: str) -> list[Document]:
    return [Document(f"{name} rate is 9 %.", metadata={"title": name, **metadata}) for name, metadata in SHELF]


def titles(filters: Any, audience: str = "internal") -> list[str]:
    state: Any = {"question": "rate?", "filters": filters}
    passages = retrieve(shelf).invoke(state, {"configurable": {"audience": audience}})
    return [passage["metadata"]["title"] for passage in passages]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"category": "Carrier"}, ["sea", "air"]),
        ({"jurisdiction": "id"}, ["sea"]),
        ({"jurisdiction": ["MY", "ID"]}, ["sea", "air"]),
        ({"last_updated": {"from": "2024"}}, ["sea", "pay"]),
        ({"last_updated": {"from": "2023-11", "to": "2024-02"}}, ["air", "pay"]),
        ({"category": "carrier", "last_updated": {"to": "2023"}}, ["air"]),
        (None, ["sea", "air", "pay"]),
    ],
)
def test_all_filters_hold(filters: Any, expected: list[str]) -> None:
    assert titles(filters) == expected


@pytest.mark.parametrize(
    "filters", [{"audience": "internal"}, {"audience": ["public", "internal"]}, {"owner": "finance"}]
)
def test_filter_never_widens_what_the_public_sees(filters: Any) -> None:
    assert "pay" not in titles(filters, "public")


@pytest.mark.parametrize(
    "filters", ["carrier", {"category": []}, {"category": {"like": "x"}}, {"category": None}, {"day": {"from": "May"}}]
)
def test_what_cannot_be_read_is_refused(filters: Any) -> None:
    with pytest.raises(QuestionError, match="filters"):
        titles(filters)


class Held:
    """The shelf as an index of documents with one passage each."""

    def get_by_ids(self, ids: Any) -> list[Document]:
        return [Document(f"{name}", id=name, metadata=metadata) for name, metadata in SHELF if name in ids]

    def documents(self) -> list[tuple[str, int, str, str]]:
        return [(name, 1, name, name) for name, _ in SHELF]

    def chunks_of(self, document: str) -> list[str]:
        return [document]


def test_unknown_field_is_refused_with_those_that_the_caller_may_know() -> None:
    held: Any = Held()
    index = FieldIndex(held)
    wanted = conditions_of({"owner": "Finance"})
    assert index.ids(Filters(conditions=wanted)) == ["pay"]
    with pytest.raises(QuestionError) as refused:
        index.ids(Filters(audience="public", conditions=wanted))
    assert str(refused.value) == (
        "filters: 'owner' is no field of the documents; they have audience, category, jurisdiction, last_updated"
    )


def test_search_tool_gives_documents_and_takes_filters() -> None:
    tool = as_search_tool(shelf, audience="public", top_k=2)
    call = {
        "name": tool.name,
        "args": {"query": "rate", "filters": {"jurisdiction": "MY"}},
        "id": "1",
        "type": "tool_call",
    }
    message = tool.invoke(call)
    assert message.content == "air rate is 9 %."
    assert [document.metadata["title"] for document in message.artifact] == ["air"]
