import pytest

from chains.errors import ConfigurationError
from chains.retrieval import Filters, filters_of


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


def test_each_filter_is_one_condition():
    filters = filters_of({"configurable": {"audience": "public", "category": "carrier", "jurisdiction": "SG"}})
    assert filters.where() == {"audience": "public", "category": "carrier", "jurisdiction": "SG"}
