import pytest
from langchain_core.messages import AIMessage, HumanMessage

from chains.caching.typed_cache import canonical


def test_the_order_of_names_makes_no_difference_and_the_order_of_items_does():
    assert canonical({"a": 1, "b": {"c": 2, "d": 3}}) == canonical({"b": {"d": 3, "c": 2}, "a": 1})
    assert canonical(["a", "b"]) != canonical(["b", "a"])


def test_the_same_words_of_another_speaker_are_another_key():
    assert canonical([HumanMessage("yes")]) != canonical([AIMessage("yes")])
    assert canonical([HumanMessage("yes")]) == canonical([HumanMessage("yes")])


def test_text_that_is_no_unicode_has_a_key():
    assert canonical("\ud800") != canonical("\ud801")


@pytest.mark.parametrize("value", [object(), float("nan"), {1, 2}, b"bytes"])
def test_what_is_no_plain_data_has_no_key(value):
    with pytest.raises((TypeError, ValueError)):
        canonical({"value": value})
