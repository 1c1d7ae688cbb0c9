"""`waypoint chat`: over a chain of its own, through prompt_toolkit's pipe input, and over lines of a pipe."""

import sys
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from app.cli.ask import Conversation, prompt_session, talk, typed
from tests.chains.gst import ANSWER, gst_chain
from tests.chains.reformulation.test_reformulate import Listening
from tests.served import QUESTION, small_services

COMMANDS = ["/why", "/sources", "/new", "/save", "/help", "/quit"]


@pytest.fixture
def shelf() -> Listening:
    return Listening(asked=[])


@pytest.fixture
def conversation(shelf) -> Conversation:
    return Conversation(gst_chain(retriever=shelf))


def test_a_follow_up_goes_on_from_what_was_said(conversation, shelf, capsys):
    talk(conversation, ["What is the GST rate in Singapore?", "", "And in Malaysia?"])

    written = capsys.readouterr().out
    assert shelf.asked[-1] == "What is the GST rate in Malaysia?"
    assert written.count("It is 9%") == 2
    told = "\n\nSearched for: What is the GST rate in Malaysia?\n"
    assert written.count("Searched for: ") == written.count(told) == 1


@pytest.mark.parametrize(
    ("lines", "asked"),
    [
        (["What is the GST rate in Singapore?", "/new", "And in Malaysia?"], "And in Malaysia?"),
        *(
            (["Is GST due?", word, "What is the GST rate?"], "Is GST due?")
            for word in ("/quit", "quit", "exit", " Exit ")
        ),
    ],
)
def test_new_forgets_what_was_said_and_quit_ends_before_the_next_line(conversation, shelf, lines, asked):
    talk(conversation, lines)

    assert shelf.asked[-1] == asked


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["/sources"], "Nothing has been answered yet."),
        (["What is the GST rate?", "/sources 7"], "The last answer has no source 7."),
        (["/nonsense"], "Unknown command '/nonsense'; /help lists the commands."),
        (["/save"], "Give one file name, like /save answers.md."),
        (["x" * 4001], "waypoint: Query exceeds maximum length of 4000 characters"),
        (["/save /nowhere/at/all.md"], "waypoint: [Errno 2] No such file or directory: '/nowhere/at/all.md'"),
    ],
)
def test_what_cannot_be_done_is_said_and_the_conversation_goes_on(conversation, capsys, lines, message):
    talk(conversation, [*lines, "/help"])

    out, err = capsys.readouterr()
    assert err.strip() == message
    assert all(command in out for command in COMMANDS)


def test_an_answer_ends_with_one_line_why_and_sources_tell_the_rest_and_save_writes_it(conversation, capsys, tmp_path):
    def said(*lines: str) -> str:
        talk(conversation, list(lines))
        return capsys.readouterr().out

    brief = said("What is the GST rate?")
    assert brief.splitlines()[-2].startswith("Confidence: ")
    assert brief.splitlines()[-2].endswith(" ms · /why for more")
    assert "Citations:" not in brief
    told = said("/why")
    assert told.startswith("Citations:\n  [1] GST Guide > Rate")
    assert "\nModel: " in told
    assert {said(command) for command in ("/sources", "/sources 1", "/sources [1]")} == {
        "[1] GST Guide > Rate\n  The rate of GST is 9%.\n"
    }
    said(f"/save '{tmp_path / 'my answers.md'}'")
    assert (tmp_path / "my answers.md").read_text() == (
        f"## What is the GST rate?\n\n{ANSWER}\n\n> GST Guide > Rate: The rate of GST is 9%.\n"
    )


class Interrupted:
    """A chain whose first answer is interrupted by Ctrl-C after a word."""

    def __init__(self) -> None:
        self.histories: list[Any] = []
        self.closed = False

    def stream(self, question: Any) -> Iterator[Any]:
        self.histories.append(question["history"])
        if len(self.histories) > 1:
            yield from gst_chain().stream(question)
            return
        try:
            yield {"answer": "It "}
            raise KeyboardInterrupt
        finally:
            self.closed = True


def test_ctrl_c_ends_an_answer_and_not_the_program(capsys):
    chain: Any = Interrupted()
    talk(Conversation(chain), ["What is the GST rate?", "What is the GST rate?"])

    assert chain.closed
    assert chain.histories == [[], []]  # What was broken off is no part of the conversation.
    assert "It \n(stopped)\n" in capsys.readouterr().out


def test_keys_at_the_prompt_make_lines_that_are_remembered_and_commands_are_completed():
    with create_pipe_input() as keyboard, create_app_session(input=keyboard, output=DummyOutput()):
        keyboard.send_text("Rate?\rone\x1b\rtwo\rdropped\x03kept\r\x04")
        session = prompt_session(COMMANDS)
        assert list(typed(lambda: session.prompt("> "))) == ["Rate?", "one\ntwo", "kept"]

    assert session.history.get_strings() == ["Rate?", "one\ntwo", "kept"]
    assert session.completer is not None
    found = session.completer.get_completions(Document("/s"), CompleteEvent())
    assert [one.text for one in found] == ["/sources", "/save"]


class Terminal(StringIO):
    """A standard input from which prompt_toolkit reads keys."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("is_terminal", [False, True])
def test_lines_of_a_pipe_and_of_a_terminal_are_answered_in_turn(tmp_path, groq, waypoint, monkeypatch, is_terminal):
    services = small_services(tmp_path, groq, llm_provider="offline")
    monkeypatch.setenv("CHROMA_PATH", str(services.settings.chroma.path))
    monkeypatch.setattr(sys, "stdin", Terminal() if is_terminal else StringIO(f"{QUESTION}\n/sources 1\n"))
    with create_pipe_input() as keyboard, create_app_session(input=keyboard, output=DummyOutput()):
        keyboard.send_text(f"dropped at Ctrl-C\x03{QUESTION}\r/sources 1\r\x04")
        code, out, _ = waypoint("chat")

    assert (code, out.startswith("Ask a question, or /help for the commands.")) == (0, is_terminal)
    assert out.count("The rate of GST on imports into Singapore is 9 %.") == 2
