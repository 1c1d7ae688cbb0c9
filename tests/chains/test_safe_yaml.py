from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chains.safe_yaml import MAX_DEPTH, MOST_CHARACTERS, YamlError, read_values

MERGED = "\n".join(
    ["a: &a {x: 1}", *(f"{new}: &{new} {{<<: [{', '.join(['*' + old] * 9)}]}}" for old, new in pairwise("abcdefghij"))]
)


def test_values_stay_as_they_are_written():
    text = "a: 010\nb: 2024-02-30\nc: [yes, ~, '', null]\nd: {<<: x}\ne: 1:1:1\n"

    assert read_values(text) == {
        "a": "010",
        "b": "2024-02-30",
        "c": ["yes", None, "", None],
        "d": {"<<": "x"},
        "e": "1:1:1",
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (MERGED, "more than 50000 values"),
        ("a: &a [*a]", "nested too deeply"),
        ("[" * 1_000_000, "nested too deeply"),
        ("- " * 100_000, "nested too deeply"),
        ("a: " + "[" * MAX_DEPTH + "]" * MAX_DEPTH, "nested too deeply"),
        ("x" * (MOST_CHARACTERS + 1), "longer than"),
        ("? [a]\n: b", "a list or a mapping in the place of a name"),
        ("a: *b", "undefined alias"),
        ("a: \x01", "a control character"),
        ("a: \ud800", "UTF-8"),
        ("a\n---\nb", "not valid YAML"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_reason(text, problem):
    with pytest.raises(YamlError, match=problem):
        read_values(text)


def test_an_alias_counts_as_often_as_it_is_used():
    text = "a: &a [1, 2, 3]\nb: [*a, *a]\n"

    assert read_values(text, most_values=16)["b"] == [["1", "2", "3"]] * 2
    with pytest.raises(YamlError, match="more than 13 values"):
        read_values(text, most_values=13)


SIGNS = st.sampled_from(["a", ": ", "- ", "&a ", "*a ", "[", "]", "{", "}", "\n", "  "])


@settings(deadline=None)
@given(st.text() | st.lists(SIGNS).map("".join))
def test_any_text_is_read_or_refused(text):
    try:
        read_values(text)
    except YamlError as error:
        assert error.line > 0  # noqa: PT017 - either end is right.
