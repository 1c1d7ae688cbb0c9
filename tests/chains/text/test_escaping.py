import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.text.letters import escape_brackets, escape_line_starts, escape_tag, one_line


def test_a_name_is_put_on_one_line_without_what_cannot_be_seen():
    assert one_line("A\r\n\u2028 \x00B\u200b\tC\xa0D") == "A B C D"


def test_backslashes_are_escaped_with_the_brackets_so_that_none_frees_one():
    assert escape_brackets(r"a\] [b") == r"a\\\] \[b"


@pytest.mark.parametrize("blank", ["", " ", "\t", "\xa0", "\u200b", "\ufeff", "\u3164", "\u2800", "\u0301", "\x00"])
def test_a_bracket_that_opens_a_line_is_escaped_behind_any_blank(blank):
    assert escape_line_starts(f"a\u2029{blank}[b]") == f"a\n{blank}\\[b]"


@given(st.text())
def test_a_text_without_the_tag_is_left_as_it_is(text):
    assert "document" in text.casefold() or escape_tag(text, "document") == text
