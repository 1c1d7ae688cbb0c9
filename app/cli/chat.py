"""`waypoint chat`: a conversation on a terminal or from a pipe."""

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from app.cli.conversation import Conversation
from app.cli.ingest import open_services
from app.cli.rendering import show

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

PROMPT = "> "
WELCOME = "Ask a question, or /help for the commands. exit or Ctrl-D ends."


def chat() -> None:
    """Answer questions in a conversation; each may refer to earlier ones."""
    services = open_services(logs_answers=True)
    conversation = Conversation(services.chain, most_characters=services.settings.limits.question_characters)
    if not sys.stdin.isatty():
        talk(conversation, (line for line in sys.stdin))
        return
    show(WELCOME)
    session = prompt_session(list(conversation.commands))
    talk(conversation, typed(lambda: session.prompt(PROMPT)))


def talk(conversation: Conversation, lines: Iterable[str]) -> None:
    """Handle lines until the input or the conversation ends."""
    for line in lines:
        conversation.handle(line)
        if conversation.ended:
            return


def typed(read: Callable[[], str]) -> Iterator[str]:
    """Yield typed lines until Ctrl-D; Ctrl-C discards the current line."""
    while True:
        try:
            yield read()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return


def prompt_session(commands: list[str]) -> "PromptSession[str]":
    """Return a prompt with history, completion of commands, and Alt-Enter for a new line."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    keys = KeyBindings()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return PromptSession(
        completer=WordCompleter(commands, sentence=True), key_bindings=keys, complete_while_typing=False
    )
