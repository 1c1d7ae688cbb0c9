"""What is shown of an answer while it grows is never taken back."""

import re

import pytest

from app.web import answer
from app.web.answer import steady

ANSWER = """To ship **sea freight** you need [Indonesia Import > Documents; B > C]:

- a *commercial* invoice [1];
- the `PIB` declaration, see [the list](https://example.org/list?a=1) and [GST Guide].
1. one
2. two **bold *and* more**

| Rate | Value |
|------|------:|
| GST | 9 % [GST Guide] |
| Duty | **0 %** |

## Steps

> A quotation with ~~old~~ words.

```
code [not a marker]
- x
```
A line - with a dash * and arr[0] and a_b, and 2*3.
Documents:
- last"""


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", html)).strip()


def test_no_word_that_was_shown_is_taken_back_and_the_whole_is_shown_at_the_end():
    shown = ""
    for length in range(1, len(ANSWER) + 1):
        now = words(answer.render_growing(ANSWER[:length])[0])
        assert now.startswith(shown), ANSWER[max(0, length - 30) : length]
        shown = now
    assert shown.endswith("Documents: last")


@pytest.mark.parametrize(
    ("begun", "shown"),
    [
        ("It is 9 % [GST Gui", "It is 9 % "),
        ("It is 9 % 【GST", "It is 9 % "),
        ("It is 9 % [GST Guide]", "It is 9 % "),
        ("It is 9 % [GST Guide].", "It is 9 % [GST Guide]."),
        ("see [the list](https://ex", "see "),
        ("see ![a beacon](https://ex", "see "),
        ("an **importa", "an **importa**"),
        ("an **", "an "),
        ("a `co", "a `co`"),
        ("Documents:\n-", "Documents:"),
        ("Documents:\n1.", "Documents:"),
        ("Documents:\n---", "Documents:"),
        ("| a | b |\n|--", ""),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3", "| a | b |\n|---|---|\n| 1 | 2 |\n"),
        ("```\na [b", "```\na [b"),
        ("An old [bracket\n\nA new paragraph", "An old [bracket\n\nA new paragraph"),
    ],
)
def test_what_may_become_something_else_is_held_back(begun, shown):
    assert steady(begun) == shown


def test_a_bracket_that_never_closes_holds_nothing_back_for_long():
    text = "An interval [0, 1) " + "and more words " * 40
    assert steady(text) == text


def test_a_whole_marker_is_a_chip_at_once_and_a_half_one_is_not_seen():
    assert "GST" not in answer.render_growing("It is 9 % [GST Guide > Ra")[0]
    html, _ = answer.render_growing("It is 9 % [GST Guide > Rate]. And [GST Guide > Rate] again.")
    assert html.count('class="chip" data-kind="pending" aria-label="Source">1<') == 2


@pytest.mark.parametrize(
    ("growing", "shown"),
    [("It is **9 %", "It is **9 %"), ("It is 9 % [GST Gui", "It is 9 % "), ("A 🚢 sails", "A 🚢 sails"), ("", "")],
)
def test_the_length_that_is_shown_counts_nothing_that_was_added(growing, shown):
    assert answer.render_growing(growing)[1] == len(shown)
