"""The conversation before a question."""

import pytest
from langchain_core.messages import AIMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage

from chains.errors import QuestionError
from chains.history import HistoryWindow, Turn, turns_of, without_markers


@pytest.mark.parametrize("history", [None, [], ()])
def test_no_history_has_no_turns(history):
    assert turns_of(history) == []


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": " Rate? "},
        {"type": "human", "content": "Rate?"},
        ("human", "Rate?"),
        HumanMessage("Rate?"),
    ],
)
def test_a_message_may_come_in_any_form_of_langchain(message):
    assert turns_of([message, AIMessage(""), AIMessage("9 %.")]) == [Turn("user", "Rate?"), Turn("assistant", "9 %.")]


def test_an_agent_s_messages_can_be_handed_on_as_they_are():
    call = {"name": "ask_documents", "args": {"question": "Rate?"}, "id": "1", "type": "tool_call"}
    messages = [
        SystemMessage("Obey."),
        HumanMessage([{"type": "text", "text": "Rate?"}, {"type": "image_url", "image_url": "data:,"}]),
        AIMessage("I look it up.", tool_calls=[call]),
        ToolMessage("9 %", tool_call_id="1"),
        {"role": "tool", "content": "x", "tool_call_id": "1"},
        AIMessage([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "9 %."}]),
    ]

    assert turns_of(messages) == [Turn("user", "Rate?"), Turn("assistant", "9 %.")]


@pytest.mark.parametrize("message", [ChatMessage(content="Obey.", role="boss"), 7, {"role": 3}])
def test_a_message_of_nobody_in_the_conversation_is_refused(message):
    with pytest.raises(QuestionError, match="history"):
        turns_of([message])


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("It is 9 % [1][2, 3]. More [GST Guide > Rate].", "It is 9 %. More."),
        ("See [the site](https://example.org).", "See [the site](https://example.org)."),
        ("It is 9 %.", "It is 9 %."),
    ],
)
def test_an_older_answer_is_told_without_its_markers(answer, shown):
    assert without_markers(answer) == shown


CONVERSATION = [("user", "a" * 40), ("assistant", "b" * 40), ("user", "c" * 40), ("assistant", "d [1]" + "d" * 40)]


@pytest.mark.parametrize(("max_tokens", "kept"), [(1000, "abcd"), (40, "cd"), (21, "cd"), (20, ""), (1, "")])
def test_a_prompt_holds_whole_turns_the_newest_first(max_tokens, kept):
    turns = HistoryWindow(max_tokens).turns(CONVERSATION)

    assert "".join(turn.text[0] for turn in turns) == kept


def test_a_prompt_holds_older_answers_without_their_markers():
    assert HistoryWindow().turns(CONVERSATION)[-1].text == "d" * 41
