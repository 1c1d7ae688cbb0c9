"""What a reasoning model thinks aloud reaches no reader."""

import re
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from chains.generation.reply import ReasoningFilter, without_reasoning
from tests.chains.generation.test_resilient import resilient
from tests.chains.gst import ANSWER, QUESTION, gst_chain, lasting
from tests.fakes import Reply
from tests.streams import asked, every_way

THOUGHT = f"<think>The user wants [GST Guide > Rate]; secret.</think>\n\n{ANSWER}"


def filtered(*pieces: str) -> str:
    words = ReasoningFilter()
    return "".join([words.feed(piece) for piece in pieces] + [words.flush()])


@every_way
async def test_a_thought_reaches_no_reader_whichever_way_is_asked(way):
    answer = await asked(gst_chain(THOUGHT), way)

    assert answer["answer"] == ANSWER
    assert lasting(answer) == lasting(gst_chain().invoke(QUESTION))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Nine.", "Nine."),
        ("<think>a</think>Nine.", "Nine."),
        ("<THINK>a</Think>\n\n Nine.", "Nine."),
        ("Well, <think>a</think> nine <think>b</think>percent.", "Well, nine percent."),
        ("Nine. <think>never closed", "Nine. "),
        ("a < b, 3 <thi", "a < b, 3 <thi"),
        ("<think></think>", ""),
    ],
)
def test_thoughts_are_left_out(text, shown):
    assert filtered(text) == filtered(*text) == without_reasoning(AIMessage(text)).content == shown


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "<", "th", "ink>", "a", " ", "\n", "[1]"]), max_size=12), st.data()
)
def test_a_text_is_the_same_however_it_is_cut(parts, data):
    text = "".join(parts)
    assume("</think>" not in re.sub("<think>.*?(</think>|$)", "", text, flags=re.DOTALL))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    pieces = [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]

    assert filtered(*pieces) == filtered(text)


@pytest.mark.parametrize("content", ["secret</think>\n\nNine.", [{"type": "text", "text": "secret</THINK> Nine."}]])
def test_a_thought_that_was_never_opened_is_left_out_of_a_whole_message(content):
    assert without_reasoning(AIMessage(content)).text == "Nine."


@pytest.mark.parametrize("size", [1, 5, 11])
def test_of_such_a_thought_a_stream_never_shows_the_tag(size):
    text = "secret</think> Nine."
    shown = filtered(*(text[at : at + size] for at in range(0, len(text), size)))

    assert shown.endswith("Nine.")
    assert "think" not in shown


@pytest.mark.parametrize(
    ("blocks", "text"),
    [
        ([{"type": "text", "text": "<think>sec"}, {"type": "text", "text": "ret</think>Nine"}, " <thi"], "Nine <thi"),
        ([{"type": "reasoning", "reasoning": "secret"}, {"type": "text", "text": "Nine."}], "Nine."),
    ],
)
def test_a_thought_in_blocks_of_text_is_left_out_and_what_is_no_text_left_alone(blocks, text):
    assert without_reasoning(AIMessage(blocks)).text == text


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
async def test_the_model_of_the_service_hands_out_no_thought_either(groq, clock, way):
    groq.replies = [Reply("<think>secret, and more of it</think>Nine percent.")]

    assert (await asked(resilient(groq, clock), way, "Rate?")).text == "Nine percent."


@pytest.mark.parametrize("size", [1, 4, 100])
def test_letters_that_grow_in_lower_case_do_not_move_a_thought(size):
    words, text = ReasoningFilter(), "İİ<think>İ secret</THINK>İİ answer"
    shown = "".join(words.feed(text[at : at + size]) for at in range(0, len(text), size)) + words.flush()

    assert shown == "İİİİ answer"
